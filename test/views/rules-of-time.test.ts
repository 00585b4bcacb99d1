import { describe, expect, it } from 'vitest';
import { importMarker } from '../../demo/active-contracts.ts';
import type { ReplayResult } from '../../src/ingest/replay-files.ts';
import { retryHalted } from '../../src/ingest/resolve-halt.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import type { DeadLetter } from '../../src/views/store/dead-letter-store.ts';
import { clockTime, parseLedger } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { expectCase, ledgerCases, outcome } from '../support/views/outcome.ts';
import { linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';

const SECOND_US = 1_000_000;
const check = (_: string, ledger: string, wanted: string): Promise<void> => expectCase(ledger, wanted);

/** The rules of time and order (docs/rules.md), a small ledger each. */
const INCREASE = ledgerCases(`
skips and counts what is at or before the last update applied | 00:01 =a : +a alice 10 / 00:02 =b : +b bob 20 / 00:02 =b : +b bob 20 / 00:01 =a : +a alice 10 / 00:01:30 =late : / 00:11 : -b | m0 00:10: alice 10, bob 20 & updates 3 & redelivered 3
knows what is redelivered in the next file | 00:01 =a : +a alice 10 / 00:02 =b : +b bob 20 // 00:02 =b : +b bob 20 / 00:12 =c : -a | m0 00:10: alice 10, bob 20
knows what is redelivered in an older file | 00:01 =a : +a alice 10 / 00:02 =b : +b bob 20 / 00:12 =c : -a // 00:01 =a : +a alice 10 / 00:02 =b : +b bob 20 | m0 00:10: alice 10, bob 20
calls an update before the first one known of its synchronizer disorder, and one at its time a redelivery | 00:02 =b : +b bob 20 / 00:12 =c : -b / 00:02 =b : +b bob 20 / 00:01:59.999999 =a : +a alice 10 | halted line 4: given "2025-02-12T00:01:59.999999Z", expected a time from 2025-02-12T00:02:00Z on, that of the first update known of this synchronizer & m0 00:10: bob 20 & updates 2 & redelivered 1
knows the first update of each synchronizer and migration | 00:02 : +b bob 20 / 00:01 @s2 : +a alice 10 / 00:01 m1 : / 00:11 : -b | m0 00:10: alice 10, bob 20
takes the same time on another synchronizer for another update | 00:01 =a : +a alice 10 / 00:01 @s2 =b : +b bob 20 / 00:11 : -a | m0 00:10: alice 10, bob 20
takes the same time in another migration for another update | 00:01 =a : +a alice 10 / 00:01 m1 =b : +b bob 20 / 00:11 m1 =c : -b | m1 00:10: bob 20
calls an update before a checkpoint of its synchronizer, read before it, disorder | 00:01 : +a alice 10 / checkpoint : @s1 00:05 / 00:04:59.999999 : +b bob 20 | halted line 3: given "2025-02-12T00:04:59.999999Z", expected a time from 2025-02-12T00:05:00Z on, the checkpoint read before it for this synchronizer
takes an update at the very time of such a checkpoint | 00:01 : +a alice 10 / checkpoint : @s1 00:05 / 00:05 : +b bob 20 / 00:11 : -a | m0 00:10: alice 10, bob 20
counts such an update after what the checkpoint has sealed | 00:01 : +a alice 10 / checkpoint : @s1 00:10 / 00:10 : +b bob 20 / 00:21 : -a | m0 00:10: alice 10 & m0 00:20: alice 10, bob 20
checks each synchronizer only against its own checkpoints | 00:01 : +a alice 10 / checkpoint : @s1 00:05 / 00:03 @s2 : +b bob 20 / 00:11 : -a | m0 00:10: alice 10, bob 20
checks against a checkpoint before the first update | checkpoint : @s1 00:05 / 00:04 : +a alice 10 | halted the checkpoint read before it
checks against a checkpoint that moved no time | 00:09 @s2 : +a alice 10 / checkpoint : @s1 00:05 ; @s2 00:09 / 00:04 : +b bob 20 | halted the checkpoint read before it
keeps the newest of several checkpoints | 00:01 : +a alice 10 / checkpoint : @s1 00:07 / checkpoint : @s1 00:05 / 00:06 : +b bob 20 | halted a time from 2025-02-12T00:07:00Z on
forgets the checkpoints of a file with the file, for the next one may go over the same time | 00:01 : +a alice 10 / checkpoint : @s1 00:05 // 00:03 : +b bob 20 / 00:11 : -a | m0 00:10: alice 10, bob 20
does not take a redelivered update after a checkpoint for disorder | 00:01 =a : +a alice 10 / checkpoint : @s1 00:05 / 00:01 =a : +a alice 10 / 00:11 : -a | m0 00:10: alice 10
`);

describe('rule 1: within a migration and synchronizer record times increase', () => {
  it.each(INCREASE)('%s', check);

  it('knows the first update also after a restart', async () => {
    using directory = temporaryDirectory();
    const [day2 = [], day1 = []] = ['00:02 =b : +b bob 20', '00:01 =a : +a alice 10\n00:02 =b : +b bob 20'].map(
      (text) => linesOf(parseLedger(text), 'scan'),
    );
    const replay = async (name: string, lines: readonly string[]): Promise<ReplayResult> =>
      replayInto(directory.at('data'), [directory.writeLines(name, lines)]);
    expect((await replay('day-2', day2)).halted).toBeNull();
    expect(await replay('day-2-again', day2)).toMatchObject({ halted: null, counts: { redelivered: 1 } });
    expect((await replay('day-1', day1)).halted).toMatchObject({ offset: 1, updateId: 'a', kind: 'update' });
  });

  it('lets a bad update or a checkpoint be no first one', async () => {
    const text = '00:03 : -nothing / checkpoint : @s1 00:01 / 00:02 =b : +b bob 20 / 00:11 : -b';
    await expectCase(text, 'm0 00:10: bob 20', { onBadUpdate: 'quarantine' });
  });
});

const FEED_ORDER = ledgerCases(`
counts a smaller record time of another synchronizer as of the time reached | 00:11 : +a alice 10 / 00:02 @s2 : +b bob 20 / 00:21 : -a | m0 00:20: alice 10, bob 20
does not go back to that smaller time: a checkpoint between the two moves no time | 00:15 : +a alice 10 / 00:02 @s2 : / checkpoint : @s1 00:15 ; @s2 00:05 | checkpoints 1 & checkpointsBehind 1
applies what comes later to what is there, whatever the record times say | 00:11 : +a alice 10 / 00:02 @s2 : -a ; +b bob 10 / 00:03 @s2 : -b ; +c carol 10 / 00:21 : +d dave 1 | m0 00:20: carol 10
`);

describe('rule 2: the feed decides the order', () => {
  it.each(FEED_ORDER)('%s', check);

  it('measures a gap from the time reached, not from the update before', async () => {
    const gap = { recordTimeGapMaxUs: 19 * 60 * SECOND_US };
    expect((await outcome('00:15 : +a alice 10\n00:02 @s2 :\n00:34 : -a', gap)).halted).toBeNull();
  });
});

const GRID = ledgerCases(`
has its first at the first grid time after the first update, and one for each quiet interval | 00:17 : +a alice 10 / 00:41 : -a | m0 00:20: alice 10 & m0 00:30: alice 10 & m0 00:40: alice 10
counts an update at exactly T to T, to the microsecond | 00:01 : +a alice 10 / 00:10 : +b bob 20 / 00:10:00.000001 : +c carol 30 / 00:20:00.000001 : -a | m0 00:10: alice 10, bob 20 & m0 00:20: alice 10, bob 20, carol 30
seals no T that an update reaches and none goes beyond | 00:01 : +a alice 10 / 00:10 : +b bob 20 | none
has no snapshot at the time of a first update on the grid, but at the next | 00:10 : +a alice 10 / 00:20:01 : -a | m0 00:20: alice 10
seals T by a checkpoint at T | 00:01 : +a alice 10 / 00:02 @s2 : / checkpoint : @s1 00:10 ; @s2 00:30 | m0 00:10: alice 10
seals none by a checkpoint just before it | 00:01 : +a alice 10 / 00:02 @s2 : / checkpoint : @s1 00:09:59.999999 ; @s2 00:30 | none
seals up to the least time of a checkpoint | 00:01 : +a alice 10 / 00:02 @s2 : / checkpoint : @s1 00:31 ; @s2 00:30 | m0 00:10: alice 10 & m0 00:20: alice 10 & m0 00:30: alice 10
counts an update of another synchronizer after a checkpoint at T to the next snapshot | 00:01 : +a alice 10 / checkpoint : @s1 00:10 / 00:10 @s2 : +b bob 20 / 00:21 : -a | m0 00:10: alice 10 & m0 00:20: alice 10, bob 20
has a grid of its own in each migration, and the last interval of an older one stays open | 00:01 : +a alice 10 / 00:05 m1 : +b bob 20 / 00:12 m1 : +c carol 30 / 00:21 : -a / 00:15 m1 : -c | m0 00:10: alice 10 & m0 00:20: alice 10 & m1 00:10: bob 20
`);

describe('rule 3: snapshots are on the grid', () => {
  it.each(GRID)('%s', check);

  it('is on the grid of the period given, counted from midnight UTC', async () => {
    const seconds = ['03', '04', '05', '06'].map((second) => `m0 00:00:${second}: alice 10`).join(' & ');
    await expectCase('00:00:02.5 : +a alice 10 / 00:00:06.1 : -a', seconds, { snapshotPeriodUs: SECOND_US });
    const hours = '02:59:59.999999 : +a alice 10 / 06:00:00.000001 : -a';
    const period = { snapshotPeriodUs: 3 * 3600 * SECOND_US };
    await expectCase(hours, 'm0 03:00: alice 10 & m0 06:00: alice 10', period);
  });
});

const MOVES = ledgerCases(`
a transaction without a coin does | 00:01 : +a alice 10 / 00:11 : | m0 00:10: alice 10
a reassignment does | 00:01 : +a alice 10 / 00:11 unassignment : -a | m0 00:10: alice 10
a topology update does not | 00:01 : +a alice 10 / 00:11 topology : / 00:09 : -a | none
a checkpoint before the first update or before the time reached does not, and both are counted | checkpoint : @s2 00:31 / 00:01 : +a alice 10 / 00:15 : +b bob 20 / checkpoint : @s1 00:15 ; @s2 00:14 / 00:21 : -a | m0 00:10: alice 10 & m0 00:20: alice 10, bob 20 & checkpoints 2 & checkpointsBehind 2
a checkpoint at the time reached seals it | 00:01 : +a alice 10 / 00:10 : +b bob 20 / checkpoint : @s1 00:10 | m0 00:10: alice 10, bob 20 & checkpoints 1 & checkpointsBehind 0
`);

describe('rule 4: what moves time', () => {
  it.each(MOVES)('%s', check);

  it.each([
    ['an archive of what is not there', '00:31 : -nothing'],
    ['a second create with other content', '00:31 : +a alice 11'],
    ['bad after something good', '00:31 : +z zoe 5 ; -nothing'],
  ])('is not a bad update: %s', async (_, line) => {
    const text = `00:01 : +a alice 10 / 00:12 : +b bob 20 / ${line}`;
    await expectCase(text, 'm0 00:10: alice 10 & halted line 3: ');
    const sealed = 'm0 00:10: alice 10 & m0 00:20: alice 10, bob 20';
    await expectCase(`${text} / 00:21 : -b`, sealed, { onBadUpdate: 'quarantine' });
  });
});

const MINUTE_US = 60_000_000;

const AHEAD = ledgerCases(`
takes an update that is ahead of it as far as allowed | 13:00 : +a alice 10 | updates 1
takes none a microsecond further | 13:00:00.000001 : +a alice 10 | halted line 1: given "2025-02-12T13:00:00.000001Z", expected a time no further ahead of our clock (2025-02-12T12:00:00Z) than --record-time-ahead-max
halts at a checkpoint of which any time is too far ahead, even if that one would move no time | 11:55 : +a alice 10 / 11:58 : -a / checkpoint : @s1 11:59 ; @s2 13:01 | halted line 3: given "2025-02-12T13:01:00Z" & none
`);
const JUMPS = ledgerCases(`
takes a jump as long as the gap allowed | 00:01 : +a alice 10 / 00:21 : -a | updates 2
halts at a longer one of an update | 00:01 : +a alice 10 / 00:21:00.000001 : -a | halted 2025-02-12T00:01:00Z, the time reached, than --record-time-gap-max & none
halts at a longer one of a checkpoint | 00:01 : +a alice 10 / checkpoint : @s1 00:22 | halted line 2:
measures a jump in each migration from the time reached there, imports and first updates aside | 00:01 : +a alice 10 / import m1 : +a alice 10 / 09:00 m1 : -a / 00:11 : -a | m0 00:10: alice 10
`);

/** The rules of time and order (docs/rules.md): our clock, and jumps. */
describe('rule 6: the clock', () => {
  const noon = { recordTimeAheadMaxUs: 60 * MINUTE_US, now: () => clockTime('12:00') };

  it.each(AHEAD)('%s', (_, ledger, wanted) => expectCase(ledger, wanted, noon));
  it.each(JUMPS)('%s', (_, ledger, wanted) => expectCase(ledger, wanted, { recordTimeGapMaxUs: 20 * MINUTE_US }));

  it('halts whatever the policy, with what came before on disk', async () => {
    const ledger = '11:55 : +a alice 10 / 12:01 : +b bob 20 / 14:00 : -a';
    const policy = { ...noon, onBadUpdate: 'quarantine' } as const;
    await expectCase(ledger, 'halted line 3: & m0 12:00: alice 10', policy);
  });

  it('ends the halt by itself once it has come near, and only then', async () => {
    using directory = temporaryDirectory();
    const text = '11:55 : +a alice 10\n13:30 : +b bob 20\n13:41 : -a';
    const feed = directory.writeLines('feed.ndjson', linesOf(parseLedger(text), 'scan'));
    const at = async (clock: string): Promise<string | null> => {
      const { halted } = await replayInto(directory.at('data'), [feed], { ...noon, now: () => clockTime(clock) });
      return halted && `${halted.kind} ${halted.offset}`;
    };
    expect(await at('12:00')).toBe('ahead 2');
    expect(await at('12:29:59')).toBe('ahead 2');
    expect(await at('12:30')).toBe('ahead 3');
    expect(await at('12:40')).toBe('ahead 3');
    expect(await at('12:41')).toBeNull();
    using store = openViewsStore(directory.at('data'));
    const snapshots = await store.facts({ kind: 'snapshots' });
    expect(snapshots.map(({ contracts }) => contracts)).toEqual([...Array(9).fill(1), 2, 2]);
  });

  it('halts at a seed mark that is too far ahead, until the clock has come near its time', async () => {
    using directory = temporaryDirectory();
    const feed = directory.writeLines('feed.ndjson', [importMarker(7, '2025-02-12T13:30:00Z')]);
    const at = async (clock: string): Promise<DeadLetter | null> => {
      const options = { ...noon, now: () => clockTime(clock) };
      return (await replayInto(directory.at('data'), [feed], options)).halted;
    };
    const halted = { id: 1, kind: 'ahead', migrationId: 7, updateId: null, recordTime: clockTime('13:30') };
    expect(await at('12:00')).toMatchObject(halted);
    expect(await at('12:29')).toMatchObject(halted);
    expect(await at('12:30')).toBeNull();
  });

  it.each([
    ['an update', '00:22 : -a'],
    ['a checkpoint', 'checkpoint : @s1 00:22'],
  ])('halts at such a jump of %s whatever the policy, until it is retried with a larger gap', async (_, jump) => {
    using directory = temporaryDirectory();
    const data = directory.at('data');
    const gap = { recordTimeGapMaxUs: 20 * MINUTE_US, onBadUpdate: 'quarantine' } as const;
    const lines = linesOf(parseLedger(`00:01 : +a alice 10\n${jump}\n00:31 : +b bob 20\n00:41 : -b`), 'ledger-api');
    const feed = directory.writeLines('feed.ndjson', lines);
    const halted = { kind: 'gap', decision: 'halted', offset: 2 };
    expect(await replayInto(data, [feed], gap)).toMatchObject({ halted, quarantined: 0, counts: { updates: 1 } });
    const wide = { ...gap, recordTimeGapMaxUs: 21 * MINUTE_US };
    expect((await replayInto(data, [feed], wide)).halted).toMatchObject(halted);
    expect(retryHalted(data, { ...WRITER_OPTIONS, ...gap }).bad).toContain('--record-time-gap-max');
    expect(retryHalted(data, { ...WRITER_OPTIONS, ...wide }).bad).toBeNull();
    expect(await replayInto(data, [feed], gap)).toMatchObject({ halted: null, quarantined: 0 });
    using store = openViewsStore(data);
    expect(await store.facts({ kind: 'snapshots' })).toHaveLength(4);
  });
});
