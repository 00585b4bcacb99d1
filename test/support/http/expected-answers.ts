import { readFileSync } from 'node:fs';

/** What the oracle says of a fixture (fixtures/expected.ts). */
export interface Expected {
  readonly last_migration: number;
  readonly lowest_open_round: number;
  readonly owner_party_ids: readonly string[];
  readonly snapshots: readonly ExpectedSnapshot[];
}

export interface ExpectedSnapshot {
  readonly migration_id: number;
  readonly record_time: string;
  readonly contracts: number;
  readonly owners: number;
  readonly unlocked: string;
  readonly locked: string;
  readonly summary_v1: object;
  readonly summaries_v0: readonly { readonly computed_as_of_round: number }[];
  readonly state_v1: readonly { readonly created_in_update_id: string | null }[];
  readonly state_v0_event_ids: readonly string[];
}

export function fixture(name: string): string {
  return new URL(`../../../fixtures/${name}`, import.meta.url).pathname;
}

export function readExpected(name: string): Expected {
  return JSON.parse(readFileSync(fixture(`${name}.expected.json`), 'utf8'));
}
