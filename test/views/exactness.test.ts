import { describe, expect, it } from 'vitest';
import { storedId, storedIdHash } from '../../src/ledger/ledger-ids.ts';
import { importsOfOne } from '../support/ledger/history.ts';
import { type LedgerOptions, oddLedger } from '../support/ledger/options.ts';
import { type Oracle, oracle } from '../support/ledger/oracle.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { differences } from '../support/views/compare-views.ts';
import { type Format, linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';
import { dumpViews, epochFacts } from '../support/views/views-dump.ts';

const LEDGERS = soakCount(8);
const CHUNK_BYTES = [300, 5_000, 64_000, 2 ** 20];
const BATCH_EVENTS = [1, 2, 7, 100, 50_000];
const EPOCH_EVENTS = [7, 50, 300, 500_000];
/** The first round of a ledger: usual, where doubles end, and so late that expiries pass the end of int64. */
const FIRST_ROUNDS = [19_830n, 2n ** 53n - 10n, 2n ** 63n - 60n, 0n];

/** The seed decides all: the ledger, its format, and where it is cut; eight have every value of each of these. */
function ledgerOf(seed: number): { format: Format; options: LedgerOptions } {
  const format = seed % 2 === 0 ? 'scan' : 'ledger-api';
  const migrations = format === 'scan' ? 1 + ((seed >> 1) % 3) : 1;
  const changes = {
    updates: 150,
    migrations,
    synchronizers: 1 + ((seed + (seed >> 2)) % 4),
    firstRound: FIRST_ROUNDS[(seed >> 1) % 4]!,
    carriedOver: migrations === 1 && seed % 3 !== 0 ? 50 : 0,
    importCreatesMax: 1 + (seed % 6),
    // What else is in the feed changes nothing of the coin.
    shares: { repair: 0.1, token: seed % 4 === 1 ? 0.4 : 0 },
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
    const expected = oracle(items, { periodMicros: TEN_MINUTES_US, showsViews: () => format !== 'scan' });
    using directory = temporaryDirectory();
    const feed = directory.writeLines('feed.ndjson', linesOf(items, format));
    const { counts, halted } = await replayInto(directory.at('data'), [feed], {
      chunkBytes: CHUNK_BYTES[(seed + (seed >> 1)) % 4]!,
      batchEventsMax: BATCH_EVENTS[seed % 5]!,
      epochEvents: EPOCH_EVENTS[seed % 4]!,
      ownersMax: seed % 2 === 0 ? 3 : 1_000,
      migrationId: Math.max(...items.map((item) => item.migrationId)),
      seal: true,
    });
    expect(halted).toBeNull();
    expect(counts).toMatchObject({
      redelivered: expected.counts.redelivered,
      importsLate: expected.counts.importsLate,
    });
    expect(differences(directory.at('data'), withForced(expected)).slice(0, 10)).toEqual([]);
    // Several epochs, one of them cleared, some rows of others not yet: not where everything is in one transaction.
    const { closed, gone, cleared } = epochFacts(directory.at('data'));
    if (seed % 20 < 2) expect(Math.min(closed, gone, cleared)).toBeGreaterThan(0);
  });
});

/** Ids of equal hash: one is text, the other is packed and has the same bytes. */
function pair(number: number): [string, string] {
  const letters = [...number.toString().padStart(6, '0')].map((digit) => 'QRSTUVWXYZ'[Number(digit)]).join('');
  return [letters, Buffer.from(letters).toString('hex')];
}

/** Two packed ids of equal hash in every migration: their bytes were solved for. */
const SOLVED = ['0001000064611502', '8d8f0000009a08a9'] as const;

/** Two ids of which the hashes differ, but not in the low 32 bits, by which they are looked up. */
function pairOfEqualLowBits(): [string, string] {
  const byLowBits = new Map<number, string>();
  for (let number = 0; ; number++) {
    const id = `00${number.toString(16).padStart(8, '0')}`;
    const hash = storedIdHash(storedId(id), 0);
    const other = byLowBits.get(hash >>> 0);
    if (other !== undefined && storedIdHash(storedId(other), 0) !== hash) return [other, id];
    byLowBits.set(hash >>> 0, id);
  }
}

/** A row of `snapshot` without what the ids decide. */
function withoutDigests(row: string): string {
  return row.replaceAll(/ \| x'[0-9a-f]{64}'/g, '');
}

/** The tables without contract ids and what follows from them. */
function withoutIds(dataDir: string): Record<string, unknown> {
  const { held, holding, counterfeit, round, snapshot, open_items, ledger_update, import_spent, ...others } =
    dumpViews(dataDir);
  const without = (rows: readonly string[] | undefined, column: number): string[] | undefined =>
    rows?.map((row) => row.split(' | ').toSpliced(column, 1).join(' | '));
  const [CONTRACT_ID, ID_HASH, EFFECTS] = [10, 6, 5];
  return {
    ...others,
    holding: without(holding, CONTRACT_ID),
    held: without(held, ID_HASH),
    counterfeit: counterfeit?.length,
    round: without(round, 1)?.toSorted(),
    ledger_update: without(ledger_update, EFFECTS),
    snapshot: snapshot?.map(withoutDigests),
    open_items: open_items?.length,
  };
}

describe('contracts whose ids have equal hashes', () => {
  it('is what these are', () => {
    for (const [text, packed] of [pair(0), pair(123_456)]) {
      expect([typeof storedId(text), typeof storedId(packed)]).toEqual(['string', 'object']);
      expect(storedIdHash(storedId(text), 3)).toBe(storedIdHash(storedId(packed), 3));
    }
    for (const migrationId of [0, 1, 4]) {
      const [one, other] = SOLVED.map((id) => storedIdHash(storedId(id), migrationId));
      expect(one === other).toBe(migrationId === 0);
    }
  });

  it.each([
    ['text and packed', pair(7)],
    ['both packed', SOLVED],
    ['in the low 32 bits alone', pairOfEqualLowBits()],
  ])('are kept apart: %s', async (_, [one, other]) => {
    using directory = temporaryDirectory();
    const text = `
      00:01 : +a alice 10 ; +b bob 20
      00:02 : -b ; +b carol 30
      00:03 : -a ; -b
      00:04 : +a alice 5 ; +b mallory 1000 forged
      00:11 : -b ; +b bob 7
      00:21 : -a ; +a mallory 9 forged
      00:31 : -a ; -b`;
    const lines = linesOf(parseLedger(text), 'scan');
    const equal = lines.map((line) => line.replaceAll('"0061"', `"${one}"`).replaceAll('"0062"', `"${other}"`));
    await replayInto(directory.at('usual'), [directory.writeLines('usual.ndjson', lines)]);
    for (const batchEventsMax of [1, 50_000]) {
      const data = directory.at(`equal ${batchEventsMax}`);
      const feed = directory.writeLines('equal.ndjson', equal);
      expect(
        (await replayInto(data, [feed], { chunkBytes: batchEventsMax === 1 ? 500 : 50_000, batchEventsMax })).halted,
      ).toBeNull();
      expect(withoutIds(data)).toEqual(withoutIds(directory.at('usual')));
    }
    const unknown = directory.writeLines('unknown.ndjson', [equal[0]!.replaceAll(`"${other}"`, '"0063"'), equal[1]!]);
    expect((await replayInto(directory.at('unknown'), [unknown])).halted?.given).toBe(`"${other}"`);
  });
});
