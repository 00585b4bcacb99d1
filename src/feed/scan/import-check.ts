import { hash } from 'node:crypto';
import { z } from 'zod';
import { formatAmount } from '../../ledger/amount.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { parseLedgerTime } from '../../ledger/time.ts';
import type { Decoded } from '../../ledger/update.ts';
import type { JsonClient } from '../network/json-client.ts';
import { FeedRefused } from '../source.ts';
import type { ScanPosition } from './scan-position.ts';

/** Owners whose sums are compared. */
const SAMPLE = 50;

/** A Scan's snapshot: it has everything up to its record time, and nothing after it. */
export interface SnapshotPosition extends ScanPosition {
  /** The record time as the Scan writes it. */
  readonly text: string;
}

type Sums = Record<'unlocked' | 'locked', bigint>;

const SUMMARY = z.object({ party_id: z.string(), total_unlocked_coin: z.unknown(), total_locked_coin: z.unknown() });
const SUPPLY = z.object({ totalSupply: z.unknown(), totalSupplyAsOf: z.unknown() });

/**
 * Compares a snapshot import with what its Scan says of it: the sums of some owners, those with the smallest hashes, and the supply.
 * An owner of that sample was in it since its first contract, so its sums are whole.
 */
export class ImportCheck {
  readonly #dso: string;
  readonly #sample = new Map<string, { readonly hash: string; readonly sums: Sums }>();
  #largest = '';
  #supply = 0n;
  contracts = 0;

  constructor(dso: string) {
    this.#dso = dso;
  }

  add(decoded: Decoded): void {
    for (const event of decoded.kind === 'update' ? decoded.events : []) {
      this.contracts += 1;
      if (event.kind === 'archive' || event.kind === 'OpenMiningRound' || event.dso !== this.#dso) continue;
      const { signatories, body } = event;
      if (signatories instanceof BadUpdate || body instanceof BadUpdate || !signatories.includes(this.#dso)) continue;
      this.#supply += body.amount;
      const sums = this.#sumsOf(body.owner);
      if (sums !== null) sums[body.entity === 'Amulet' ? 'unlocked' : 'locked'] += body.amount;
    }
  }

  /** Null for an owner that is not in the sample. */
  #sumsOf(owner: string): Sums | null {
    const known = this.#sample.get(owner);
    if (known !== undefined) return known.sums;
    const own = hash('sha256', owner);
    if (this.#sample.size >= SAMPLE) {
      if (own > this.#largest) return null;
      for (const [each, { hash: other }] of this.#sample) if (other === this.#largest) this.#sample.delete(each);
    }
    const sums = { unlocked: 0n, locked: 0n };
    this.#sample.set(owner, { hash: own, sums });
    this.#largest = [...this.#sample.values()].reduce((most, each) => (each.hash > most ? each.hash : most), '');
    return sums;
  }

  /** Throws FeedRefused for a difference, and AnswerFailure where the Scan says nothing. */
  async compareOwners(client: JsonClient, { text, migrationId }: SnapshotPosition): Promise<void> {
    if (this.#sample.size === 0) return;
    const owner_party_ids = [...this.#sample.keys()];
    const asked = { migration_id: migrationId, record_time: text, owner_party_ids };
    const { summaries } = await client.ask('/v1/holdings/summary', z.object({ summaries: z.array(SUMMARY) }), asked);
    for (const [owner, { sums }] of this.#sample) {
      const { total_unlocked_coin: unlocked, total_locked_coin: locked } =
        summaries.find(({ party_id }) => party_id === owner) ?? {};
      if (unitsOf(unlocked) === sums.unlocked && unitsOf(locked) === sums.locked) continue;
      const ours = `${formatAmount(sums.unlocked)} unlocked and ${formatAmount(sums.locked)} locked`;
      throw new FeedRefused(
        `the active contracts of ${client.url} at ${text} give ${owner} ${ours}, and its summary says ${unlocked} unlocked and ` +
          `${locked} locked: nothing of this snapshot import is served; begin with another Scan`,
      );
    }
  }

  /** What differs from the Scan's supply, where it says one for the same time. */
  async supplyDifference(client: JsonClient, { text, recordTime }: SnapshotPosition): Promise<string | null> {
    const { totalSupply, totalSupplyAsOf } = await client.ask('//registry/metadata/v1/instruments/Amulet', SUPPLY);
    if (typeof totalSupplyAsOf !== 'string' || parseLedgerTime(totalSupplyAsOf) !== recordTime) return null;
    if (unitsOf(totalSupply) === this.#supply) return null;
    return (
      `the snapshot import of ${text} has a supply of ${formatAmount(this.#supply)}, and ${client.url} says ${totalSupply}: ` +
      'contracts that came from another synchronizer are not in its snapshots'
    );
  }
}

/** A sum in plain digits; unlike an amount it may have any number of them. */
function unitsOf(value: unknown): bigint | null {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d{1,10}))?$/.exec(typeof value === 'string' ? value : '') ?? [];
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(10, '0'));
}
