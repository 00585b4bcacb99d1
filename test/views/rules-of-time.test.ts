import { describe, expect, it } from 'vitest';
import type { ReplayResult } from '../../src/ingest/replay-files.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { type Outcome, outcome } from '../support/views/outcome.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

const SECOND_US = 1_000_000;

/** The rules of time and order (docs/rules.md), a small ledger each. */
async function expectOutcome(text: string | readonly string[], wanted: Partial<Outcome>): Promise<void> {
  expect(await outcome(text)).toMatchObject({ halted: null, ...wanted });
}

describe('rule 1: within a migration and synchronizer record times increase', () => {
  it('skips and counts what is at or before the last update applied', async () => {
    const text = `
      00:01 =a : +a alice 10
      00:02 =b : +b bob 20
      00:02 =b : +b bob 20
      00:01 =a : +a alice 10
      00:01:30 =late : +c carol 30
      00:11    : -b`;
    const { counts, ...rest } = await outcome(text);
    expect(rest).toMatchObject({ halted: null, snapshots: ['m0 00:10: alice 10, bob 20'] });
    expect(counts).toMatchObject({ updates: 3, redelivered: 3 });
  });

  it('knows what is redelivered in another file', async () => {
    const first = '00:01 =a : +a alice 10\n00:02 =b : +b bob 20';
    const wanted = { snapshots: ['m0 00:10: alice 10, bob 20'] };
    await expectOutcome([first, '00:02 =b : +b bob 20\n00:12 =c : -a'], wanted);
    await expectOutcome([`${first}\n00:12 =c : -a`, first], wanted);
  });

  it('calls an update before the first one known of its synchronizer disorder, and one at its time a redelivery', async () => {
    const text = `
      00:02 =b : +b bob 20
      00:12 =c : -b
      00:02 =b : +b bob 20
      00:01:59.999999 =a : +a alice 10`;
    const expected = 'a time from 2025-02-12T00:02:00Z on, that of the first update known of this synchronizer';
    const { counts, ...rest } = await outcome(text);
    const halted = `line 4: given "2025-02-12T00:01:59.999999Z", expected ${expected}`;
    expect(rest).toMatchObject({ halted, snapshots: ['m0 00:10: bob 20'] });
    expect(counts).toMatchObject({ updates: 2, redelivered: 1 });
  });

  it('knows the first update of each synchronizer and migration, also from another file and after a restart', async () => {
    await expectOutcome('00:02 : +b bob 20\n00:01 @s2 : +a alice 10\n00:01 m1 :\n00:11 : -b', {
      snapshots: ['m0 00:10: alice 10, bob 20'],
    });
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
    const text = '00:03 : -nothing\ncheckpoint : @s1 00:01\n00:02 =b : +b bob 20\n00:11 : -b';
    const { halted, snapshots } = await outcome(text, { onBadUpdate: 'quarantine' });
    expect({ halted, snapshots }).toEqual({ halted: null, snapshots: ['m0 00:10: bob 20'] });
  });

  it('takes the same time on another synchronizer, and in another migration, for another update', async () => {
    await expectOutcome('00:01 =a : +a alice 10\n00:01 @s2 =b : +b bob 20\n00:11 : -a', {
      snapshots: ['m0 00:10: alice 10, bob 20'],
    });
    await expectOutcome('00:01 =a : +a alice 10\n00:01 m1 =b : +b bob 20\n00:11 m1 =c : -b', {
      snapshots: ['m1 00:10: bob 20'],
    });
  });

  it('calls an update before a checkpoint of its synchronizer, read before it, disorder', async () => {
    const text = `
      00:01 : +a alice 10
      checkpoint : @s1 00:05
      00:04:59.999999 : +b bob 20`;
    const halted =
      'line 3: given "2025-02-12T00:04:59.999999Z", expected a time from 2025-02-12T00:05:00Z on, the checkpoint read before it for this synchronizer';
    await expectOutcome(text, { halted });
  });

  it('takes an update at the very time of such a checkpoint, and it counts after what that has sealed', async () => {
    await expectOutcome('00:01 : +a alice 10\ncheckpoint : @s1 00:05\n00:05 : +b bob 20\n00:11 : -a', {
      snapshots: ['m0 00:10: alice 10, bob 20'],
    });
    await expectOutcome('00:01 : +a alice 10\ncheckpoint : @s1 00:10\n00:10 : +b bob 20\n00:21 : -a', {
      snapshots: ['m0 00:10: alice 10', 'm0 00:20: alice 10, bob 20'],
    });
  });

  it('checks each synchronizer only against its own checkpoints, including those that moved no time', async () => {
    await expectOutcome('00:01 : +a alice 10\ncheckpoint : @s1 00:05\n00:03 @s2 : +b bob 20\n00:11 : -a', {
      snapshots: ['m0 00:10: alice 10, bob 20'],
    });
    const before = await outcome('checkpoint : @s1 00:05\n00:04 : +a alice 10');
    expect(before.halted).toContain('the checkpoint read before it');
    const behind = await outcome('00:09 @s2 : +a alice 10\ncheckpoint : @s1 00:05 ; @s2 00:09\n00:04 : +b bob 20');
    expect(behind.halted).toContain('the checkpoint read before it');
  });

  it('keeps the newest of several checkpoints', async () => {
    const text = '00:01 : +a alice 10\ncheckpoint : @s1 00:07\ncheckpoint : @s1 00:05\n00:06 : +b bob 20';
    expect((await outcome(text)).halted).toContain('a time from 2025-02-12T00:07:00Z on');
  });

  it('forgets the checkpoints of a file with the file, for the next one may go over the same time', async () => {
    await expectOutcome(['00:01 : +a alice 10\ncheckpoint : @s1 00:05', '00:03 : +b bob 20\n00:11 : -a'], {
      snapshots: ['m0 00:10: alice 10, bob 20'],
    });
  });

  it('does not take a redelivered update after a checkpoint for disorder', async () => {
    const text = '00:01 =a : +a alice 10\ncheckpoint : @s1 00:05\n00:01 =a : +a alice 10\n00:11 : -a';
    await expectOutcome(text, { snapshots: ['m0 00:10: alice 10'] });
  });
});

describe('rule 2: the feed decides the order', () => {
  it('counts a smaller record time of another synchronizer as of the time reached', async () => {
    const text = `
      00:11 : +a alice 10
      00:02 @s2 : +b bob 20
      00:21 : -a`;
    await expectOutcome(text, { snapshots: ['m0 00:20: alice 10, bob 20'] });
  });

  it('does not go back to that smaller time: a checkpoint between the two moves no time', async () => {
    const text = '00:15 : +a alice 10\n00:02 @s2 :\ncheckpoint : @s1 00:15 ; @s2 00:05';
    expect((await outcome(text)).counts).toMatchObject({ checkpoints: 1, checkpointsBehind: 1 });
    // Nineteen minutes from the time reached, and more than that from the update before.
    const gap = { recordTimeGapMaxUs: 19 * 60 * SECOND_US };
    expect((await outcome('00:15 : +a alice 10\n00:02 @s2 :\n00:34 : -a', gap)).halted).toBeNull();
  });

  it('applies what comes later to what is there, whatever the record times say', async () => {
    const text = `
      00:11 : +a alice 10
      00:02 @s2 : -a ; +b bob 10
      00:03 @s2 : -b ; +c carol 10
      00:21 : +d dave 1`;
    await expectOutcome(text, { snapshots: ['m0 00:20: carol 10'] });
  });
});

describe('rule 3: snapshots are on the grid', () => {
  it('has its first at the first grid time after the first update, and one for each quiet interval', async () => {
    const snapshots = ['m0 00:20: alice 10', 'm0 00:30: alice 10', 'm0 00:40: alice 10'];
    await expectOutcome('00:17 : +a alice 10\n00:41 : -a', { snapshots });
  });

  it('counts an update at exactly T to T, to the microsecond', async () => {
    const text = `
      00:01 : +a alice 10
      00:10 : +b bob 20
      00:10:00.000001 : +c carol 30
      00:20:00.000001 : -a`;
    await expectOutcome(text, { snapshots: ['m0 00:10: alice 10, bob 20', 'm0 00:20: alice 10, bob 20, carol 30'] });
  });

  it('seals no T that an update reaches and none goes beyond', async () => {
    await expectOutcome('00:01 : +a alice 10\n00:10 : +b bob 20', { snapshots: [] });
  });

  it('has no snapshot at the time of a first update on the grid, but at the next', async () => {
    await expectOutcome('00:10 : +a alice 10\n00:20:01 : -a', { snapshots: ['m0 00:20: alice 10'] });
  });

  it('seals T by a checkpoint at T, and none by one just before it', async () => {
    const text = (clock: string): string => `00:01 : +a alice 10\n00:02 @s2 :\ncheckpoint : @s1 ${clock} ; @s2 00:30`;
    await expectOutcome(text('00:10'), { snapshots: ['m0 00:10: alice 10'] });
    await expectOutcome(text('00:09:59.999999'), { snapshots: [] });
    await expectOutcome(text('00:31'), {
      snapshots: ['m0 00:10: alice 10', 'm0 00:20: alice 10', 'm0 00:30: alice 10'],
    });
  });

  it('counts an update of another synchronizer after a checkpoint at T to the next snapshot', async () => {
    const text = `
      00:01 : +a alice 10
      checkpoint : @s1 00:10
      00:10 @s2 : +b bob 20
      00:21 : -a`;
    await expectOutcome(text, { snapshots: ['m0 00:10: alice 10', 'm0 00:20: alice 10, bob 20'] });
  });

  it('has a grid of its own in each migration, and the last interval of an older one stays open', async () => {
    const text = `
      00:01 : +a alice 10
      00:05 m1 : +b bob 20
      00:12 m1 : +c carol 30
      00:21 : -a
      00:15 m1 : -c`;
    await expectOutcome(text, { snapshots: ['m0 00:10: alice 10', 'm0 00:20: alice 10', 'm1 00:10: bob 20'] });
  });

  it('is on the grid of the period given, counted from midnight UTC', async () => {
    const text = '00:00:02.5 : +a alice 10\n00:00:06.1 : -a';
    expect((await outcome(text, { snapshotPeriodUs: SECOND_US })).snapshots).toEqual(
      ['03', '04', '05', '06'].map((second) => `m0 00:00:${second}: alice 10`),
    );
    const hours = '02:59:59.999999 : +a alice 10\n06:00:00.000001 : -a';
    expect((await outcome(hours, { snapshotPeriodUs: 3 * 3600 * SECOND_US })).snapshots).toEqual([
      'm0 03:00: alice 10',
      'm0 06:00: alice 10',
    ]);
  });
});

describe('rule 4: what moves time', () => {
  it.each([
    ['a transaction without a coin', '00:11 :'],
    ['a reassignment', '00:11 unassignment : -a'],
  ])('is %s', async (_, line) => {
    await expectOutcome(`00:01 : +a alice 10\n${line}`, { snapshots: ['m0 00:10: alice 10'] });
  });

  it('is not a topology update', async () => {
    await expectOutcome('00:01 : +a alice 10\n00:11 topology :\n00:09 : -a', { snapshots: [] });
  });

  it('is not a checkpoint before the first update or before the time reached, and both are counted', async () => {
    const text = `
      checkpoint : @s2 00:31
      00:01 : +a alice 10
      00:15 : +b bob 20
      checkpoint : @s1 00:15 ; @s2 00:14
      00:21 : -a`;
    const { snapshots, counts } = await outcome(text);
    expect(snapshots).toEqual(['m0 00:10: alice 10', 'm0 00:20: alice 10, bob 20']);
    expect(counts).toMatchObject({ checkpoints: 2, checkpointsBehind: 2 });
  });

  it('is a checkpoint at the time reached, which seals it', async () => {
    const text = '00:01 : +a alice 10\n00:10 : +b bob 20\ncheckpoint : @s1 00:10';
    const { snapshots, counts } = await outcome(text);
    expect(snapshots).toEqual(['m0 00:10: alice 10, bob 20']);
    expect(counts).toMatchObject({ checkpoints: 1, checkpointsBehind: 0 });
  });

  it.each([
    ['an archive of what is not there', '00:31 : -nothing'],
    ['a second create with other content', '00:31 : +a alice 11'],
    ['bad after something good', '00:31 : +z zoe 5 ; -nothing'],
  ])('is not a bad update: %s', async (_, line) => {
    const text = `00:01 : +a alice 10\n00:12 : +b bob 20\n${line}`;
    const { snapshots, halted } = await outcome(text);
    expect({ snapshots, halted }).toEqual({
      snapshots: ['m0 00:10: alice 10'],
      halted: expect.stringMatching(/^line 3: /),
    });
    const quarantined = await outcome(`${text}\n00:21 : -b`, { onBadUpdate: 'quarantine' });
    expect(quarantined.snapshots).toEqual(['m0 00:10: alice 10', 'm0 00:20: alice 10, bob 20']);
  });
});
