import { describe, expect, it } from 'vitest';
import { importsOfOne } from '../support/ledger/history.ts';
import { type LedgerOptions, oddLedger } from '../support/ledger/options.ts';
import { type Oracle, oracle } from '../support/ledger/oracle.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { differences } from '../support/views/compare-views.ts';
import { type Format, linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';

const LEDGERS = soakCount(8);
const CHUNK_BYTES = [300, 5_000, 64_000, 2 ** 20];
const BATCH_EVENTS = [1, 2, 7, 100, 50_000];
/** The first round of a ledger: usual, where doubles end, and so late that expiries pass the end of int64. */
const FIRST_ROUNDS = [19_830n, 2n ** 53n - 10n, 2n ** 63n - 60n, 0n];

/** The seed decides all: the ledger, its format, and where it is cut; eight have every value of each of these. */
function ledgerOf(seed: number): { format: Format; options: LedgerOptions } {
  const format = seed % 2 === 0 ? 'scan' : 'ledger-api';
  const migrations = format === 'scan' ? 1 + ((seed >> 1) % 3) : 1;
  const changes = {
    updates: 300,
    migrations,
    synchronizers: 1 + ((seed + (seed >> 2)) % 4),
    firstRound: FIRST_ROUNDS[(seed >> 1) % 4]!,
    carriedOver: migrations === 1 && seed % 3 !== 0 ? 50 : 0,
    importCreatesMax: 1 + (seed % 6),
    shares: { repair: 0.1 },
  };
  return { format, options: oddLedger(seed, changes) };
}

/** The oracle's snapshots with the forced one among them. */
function withForced(expected: Oracle): Oracle {
  const { forced, snapshots } = expected;
  if (forced === null || snapshots.includes(forced)) return expected;
  const all = [...snapshots, forced].sort((a, b) => a.migrationId - b.migrationId || a.recordTime - b.recordTime);
  return { ...expected, snapshots: all };
}

describe('every answer of a random ledger equals the oracle', () => {
  it.each(Array.from({ length: LEDGERS }, (_, seed) => seed))('seed %i', async (seed) => {
    const { format, options } = ledgerOf(seed);
    const all = [...randomLedger(options)].filter((item) => linesOf([item], format).length > 0);
    const items = format === 'scan' ? all.flatMap((item) => importsOfOne(item)) : all;
    const expected = oracle(items, { periodMicros: TEN_MINUTES_US });
    using directory = temporaryDirectory();
    const feed = directory.writeLines('feed.ndjson', linesOf(items, format));
    const { counts, halted } = await replayInto(directory.at('data'), [feed], {
      chunkBytes: CHUNK_BYTES[(seed + (seed >> 1)) % 4]!,
      batchEventsMax: BATCH_EVENTS[seed % 5]!,
      migrationId: Math.max(...items.map((item) => item.migrationId)),
      seal: true,
    });
    expect(halted).toBeNull();
    expect(counts).toMatchObject({
      redelivered: expected.counts.redelivered,
      importsLate: expected.counts.importsLate,
    });
    expect(differences(directory.at('data'), withForced(expected)).slice(0, 10)).toEqual([]);
  });
});
