import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LedgerOptions } from '../../test/support/ledger/options.ts';
import { realLedger } from '../../test/support/ledger/options.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures');

/** Replayed first: the tables of bad requests ask about it. */
export const STORY = join(FIXTURES, 'story.scan.ndjson');
const EXPECTED = join(FIXTURES, 'story.expected.json');

/** After so many events the active set has grown to a fifth of it, and then stays as large. */
export const EVENTS_TO_GROW = 1_000_000;
const PERIOD_MS = 600_000;
const START_MS = Date.parse('2025-02-12T02:00:00Z');

interface Expected {
  readonly dso: string;
  readonly owner_party_ids: readonly string[];
  readonly snapshots: readonly { readonly record_time: string; readonly migration_id: number }[];
}

export function readStory(): Expected {
  return JSON.parse(readFileSync(EXPECTED, 'utf8')) as Expected;
}

/** Each line of the story is an update. */
export function storyUpdates(): number {
  return readFileSync(STORY, 'utf8').trimEnd().split('\n').length;
}

/** The ledger that follows the story, without end: the same seed gives the same one. */
export function soakLedger(seed: number): LedgerOptions {
  const real = realLedger({ seed, events: EVENTS_TO_GROW });
  const odd = { unusual: 0.02, oddId: 0.02, tinyAmount: 0.02, zeroRate: 0.02, shortLived: 0.05, recreated: 0.02 };
  return {
    ...real,
    migrationId: 0,
    start: START_MS * 1000,
    dso: readStory().dso,
    shares: { ...real.shares, ...odd, quiet: 0.0002 },
  };
}

/** The time of the ledger's snapshot number `at`, from 0; they are on the grid without a gap. */
export function snapshotMs(at: number): number {
  return START_MS + (at + 1) * PERIOD_MS;
}

/** The number of the snapshot at a time; -1 and less within the story. */
export function snapshotAt(ms: number): number {
  return (ms - START_MS) / PERIOD_MS - 1;
}
