import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { feedSchemas } from '../../scripts/feed-schemas/all.ts';
import { decodeMessage } from '../../src/decode/decode-message.ts';
import { BadUpdate } from '../../src/ledger/bad-update.ts';
import type { FlatEvent } from '../../src/scale/flat-event.ts';
import { type FlattenRules, flatten } from '../../src/scale/flatten.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import * as messages from '../support/decode/messages.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { foldFlat, type ReadEvent, totalsAt } from '../support/scale/fold.ts';
import { FLAT_DSO, flatLedger } from '../support/scale/ledgers.ts';
import { type Format, linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';

const RULES: FlattenRules = {
  dso: messages.DSO,
  periodUs: TEN_MINUTES_US,
  recordTimeAheadMaxUs: 0,
  now: Date.UTC(2027, 0, 1) * 1000,
};

function flat(message: unknown, rules: Partial<FlattenRules> = {}): readonly FlatEvent[] {
  const decoded = decodeMessage(Buffer.from(JSON.stringify(message)), { migrationId: 7 });
  return flatten(decoded, { ...RULES, ...rules });
}

function faultOf(message: unknown, rules: Partial<FlattenRules> = {}): string {
  try {
    flat(message, rules);
  } catch (error) {
    if (error instanceof BadUpdate) return error.message;
    throw error;
  }
  return 'none';
}

const schema = z.fromJSONSchema(feedSchemas()['flat-event.json'] as z.core.JSONSchema.JSONSchema);

describe('flat events', () => {
  it.each<[Format, number]>([
    ['scan', 1],
    ['scan', 2],
    ['ledger-api', 1],
    ['acs-delta', 1],
  ])('of a random ledger as %s with %i migrations add up to its replay', async (format, migrations) => {
    const ledger = flatLedger(7, { migrations, carriedOver: 10, migrationId: 7, updates: 400 });
    const lines = linesOf(randomLedger(ledger), format);
    const events = lines.flatMap((line) => flat(JSON.parse(line), { dso: FLAT_DSO }));
    const read = events.map((event) => JSON.parse(JSON.stringify(event)) as ReadEvent);
    expect(read.filter((event) => !schema.safeParse(event).success)).toEqual([]);
    const kinds = new Set(read.map(({ k }) => k));
    expect([...'CGAOXM'].filter((k) => !kinds.has(k))).toEqual([]);
    const folded = foldFlat([read]);

    using directory = temporaryDirectory();
    const feed = directory.writeLines('feed.ndjson', lines);
    await replayInto(directory.at('views'), [feed], { migrationId: 7 });
    using store = openViewsStore(directory.at('views'));
    const snapshots = await store.facts({ kind: 'snapshots' });
    expect(snapshots.length).toBeGreaterThan(20);
    for (const { migrationId, recordTime, contracts, owners: count } of snapshots) {
      const totals = totalsAt(folded.get(migrationId)!, recordTime / TEN_MINUTES_US);
      expect(totals.size).toBe(count);
      const owners = [...totals.keys()];
      const snapshot = { migrationId: BigInt(migrationId), recordTime: BigInt(recordTime), match: 'exact' } as const;
      const facts = await store.facts({ kind: 'owners', snapshot, owners, round: null });
      const sums = facts.owners.map(({ party, unlocked, locked }) => ({
        party,
        ...Object.fromEntries(
          Object.entries({ unlocked, locked }).map(([name, { count: coins, amount, rate, rateRound }]) => {
            return [name, [BigInt(coins), amount, rate, rateRound]];
          }),
        ),
      }));
      expect(sums).toEqual(owners.map((party) => ({ party, ...totals.get(party) })));
      const coins = [...totals.values()].reduce((sum, { unlocked, locked }) => sum + unlocked[0]! + locked[0]!, 0n);
      expect(coins).toBe(BigInt(contracts));
    }
    const first = [...folded.values()].map(
      ({ intervals }) => (Math.floor(Math.min(...intervals.values()) / TEN_MINUTES_US) + 1) * TEN_MINUTES_US,
    );
    const oldest = Map.groupBy(snapshots, ({ migrationId }) => migrationId);
    expect([...oldest.values()].map(([snapshot]) => snapshot!.recordTime)).toEqual(first);
  });

  it('belong to the interval whose snapshot is at or after them, and are in one order over migrations', () => {
    const grid = Date.UTC(2026, 2, 4, 5, 10) * 1000;
    const at = (micros: number): FlatEvent => {
      const time = new Date(micros / 1000).toISOString().replace('Z', `${String(micros % 1000).padStart(3, '0')}Z`);
      return flat(messages.change(messages.scanTransaction(), 'record_time', time))[0]!;
    };
    expect([grid - 1, grid, grid + 1].map((t) => at(t).seq - grid / TEN_MINUTES_US)).toEqual([0, 0, 1]);
    const windowOf = ({ clk }: FlatEvent): number => Math.floor(clk / 600_000);
    expect(windowOf(at(grid)) - windowOf(at(grid - 1))).toBe(0);
    expect(windowOf(at(grid + 1)) - windowOf(at(grid))).toBe(1);
    const [imported] = flat(messages.scanImport());
    expect(imported).toMatchObject({ k: 'C', t: null, seq: 0, upd: null });
    expect(imported!.clk).toBe(imported!.m * 3_155_760_000_000);
  });

  it('have the same fingerprint for equal content in another notation, and another for other content', () => {
    const fp = (message: unknown): string => (flat(message)[0] as Extract<FlatEvent, { k: 'C' }>).fp;
    const create = messages.scanImport();
    expect(fp(create)).toBe(fp(structuredClone(create)));
    expect(JSON.stringify(create)).toContain('42.5000000000');
    const other = (from: string, to: string): unknown => JSON.parse(JSON.stringify(create).replaceAll(from, to));
    expect(fp(other('42.5000000000', '425E-1'))).toBe(fp(create));
    expect(fp(other('42.5000000000', '42.5000000001'))).not.toBe(fp(create));
  });

  it('say what is of a snapshot import, by which update its coins were created, and where its marker is', () => {
    const imported = { ...messages.scanImport(), seed: true, created_in_update_id: '1220ab' };
    const grid = '2026-02-14T15:00:00Z';
    const [coin, mark] = [imported, { seed: { migration_id: 4, record_time: grid } }].map((each) => flat(each)[0]!);
    expect(coin).toMatchObject({ k: 'C', t: null, seq: 0, upd: '1220ab', seeded: 0 });
    const t = Date.parse(grid) * 1000;
    expect(mark).toMatchObject({ k: 'M', m: 4, t, seq: t / TEN_MINUTES_US, seeded: t });
    for (const event of [coin, mark]) expect(schema.safeParse(JSON.parse(JSON.stringify(event))).success).toBe(true);
    expect(flat(messages.scanImport())[0]).not.toHaveProperty('seeded');
  });

  it('are in no sum where the DSO is another one', () => {
    const kinds = new Set(flat(messages.scanTransaction(), { dso: 'other::1220ee' }).map(({ k }) => k));
    expect(kinds.has('C') || kinds.has('O')).toBe(false);
    expect(kinds.has('G')).toBe(true);
  });
});

describe('what flat events cannot say is refused', () => {
  const create = (from: string, to: string): unknown =>
    JSON.parse(JSON.stringify(messages.scanImport()).replaceAll(from, to));

  it.each([
    [
      'an amount',
      '42.5000000000',
      '999999999999999999.9999999999',
      '1000000000000000000.0000000000',
      /initialAmount of .* below 1e18/,
    ],
    ['a rate', '0.0025000000', '999999999.9999999999', '1000000000.0000000000', /ratePerRound of .* below 1e9/],
    ['a round', '1207', '9999999999', '10000000000', /round of .* below 1e10/],
  ])('%s', (_name, from, largest, tooLarge, message) => {
    const [event] = flat(create(from, largest));
    expect(schema.safeParse(JSON.parse(JSON.stringify(event))).success).toBe(true);
    expect(faultOf(create(from, tooLarge))).toMatch(message);
  });

  it('a migration beyond the clock', () => {
    const migration = (id: number): unknown => messages.change(messages.scanTransaction(), 'migration_id', id);
    expect(faultOf(migration(78))).toBe('none');
    expect(faultOf(migration(79))).toMatch(/migration_id: given 79, expected at most 78/);
  });

  it('a time ahead of our clock, of an update and of a checkpoint', () => {
    const now = Date.UTC(2026, 0, 1) * 1000;
    expect(faultOf(messages.scanTransaction(), { now })).toMatch(/^record_time: .*ahead of our clock/);
    expect(faultOf(messages.ledgerApiCheckpoint(), { now })).toMatch(/^synchronizerTimes.*ahead of our clock/);
  });

  it.each(['signatories', 'created_at'])(
    'a bad field of a coin that counts (%s), but not of one that does not',
    (field) => {
      const text = JSON.stringify(messages.scanImport()).replace(
        new RegExp(`"${field}":("[^"]*"|\\[[^\\]]*\\])`),
        `"${field}":7`,
      );
      expect(faultOf(JSON.parse(text))).toContain(field);
      expect(flat(JSON.parse(text), { dso: 'other::1220ee' })[0]!.k).toBe('G');
    },
  );
});
