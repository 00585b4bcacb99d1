import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import DatabaseFile from 'better-sqlite3';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { NO_COIN, type Order, type Ranking, type SnapshotPlace } from '../../src/holdings/facts.ts';
import { HoldingsFault } from '../../src/holdings/holdings-fault.ts';
import type { Question } from '../../src/holdings/question.ts';
import { readChanges } from '../../src/views/read/insight-reader.ts';
import { startReaderThreads } from '../../src/views/read/reader-thread.ts';
import { createRankings } from '../../src/views/read/server-answers.ts';
import { BEGINNING, type IntervalEnd, NOT_BOUNDED } from '../../src/views/read/stored-snapshots.ts';
import { openEventLoopStore, openViewsStore } from '../../src/views/read/views-store.ts';
import { NO_EPOCHS } from '../../src/views/store/account-epochs.ts';
import { fixture, readExpected } from '../support/http/expected-answers.ts';
import { makeDataDirectory } from '../support/http/holdings-service.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

const store = openViewsStore(await makeDataDirectory([fixture('story.scan.ndjson')]));
afterAll(() => store[Symbol.dispose]());
const places = readExpected('story').snapshots.map(({ migration_id, record_time }) => ({
  migrationId: migration_id,
  recordTime: Date.parse(record_time) * 1000,
}));

/** Rankings, and of which snapshots they were made. */
function counted(rank = (place: SnapshotPlace): Promise<Ranking> => store.facts({ kind: 'ranking', ...place })) {
  const made: number[] = [];
  const rankings = createRankings();
  const over = rankings.over(store, (place) => {
    made.push(places.findIndex(({ recordTime }) => recordTime === place.recordTime));
    return rank(place);
  });
  return { made, ask: (at: number) => over.facts({ kind: 'ranking', ...places[at]! }), over };
}

describe('rankings', () => {
  test('are made once for all who ask at the same time, and kept', async () => {
    const { made, ask } = counted();
    const asked = await Promise.all(Array.from({ length: 50 }, () => ask(0)));
    expect(new Set(asked).size).toBe(1);
    expect(await ask(0)).toBe(asked[0]);
    expect(made).toEqual([0]);
  });

  test('are kept of the last few snapshots asked for', async () => {
    const { made, ask } = counted();
    for (const at of [0, 1, 2, 3, 0, 4, 0, 2, 3, 4, 1]) await ask(at);
    expect(made).toEqual([0, 1, 2, 3, 4, 1]);
  });

  test('take no more than 64 MB, but for the newest one', async () => {
    const large = (size: number) => async (): Promise<Ranking> => {
      const order = new Uint32Array(size);
      return { total: order, unlocked: order, locked: order };
    };
    const million = counted(large(2_000_000));
    for (const at of [0, 1, 2, 1, 2, 0]) await million.ask(at);
    expect(million.made).toEqual([0, 1, 2, 0]);
    const enormous = counted(large(10_000_000));
    for (const at of [0, 0, 1, 1, 0]) await enormous.ask(at);
    expect(enormous.made).toEqual([0, 1, 0]);
  });

  test('that could not be made are made again', async () => {
    let fails = true;
    const { made, ask } = counted(async (place) => {
      if (fails) throw new Error('the disk is gone');
      return store.facts({ kind: 'ranking', ...place });
    });
    await expect(Promise.all([ask(0), ask(0)])).rejects.toThrow('the disk is gone');
    fails = false;
    expect((await ask(0)).total).toHaveLength(4);
    expect(made).toEqual([0, 0]);
  });
});

/** Its rounds are changed. */
const roundsDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const expected = readExpected('story');
const lowest = BigInt(expected.lowest_open_round);
const newest = { migrationId: null, recordTime: null, match: 'exact' } as const;
const writer = new DatabaseFile(join(roundsDir, 'views.db'));
afterAll(() => void writer.close());

describe("the store of a server's event loop", () => {
  test('sees one moment in all reads of a turn of the event loop, and what was committed since in the next', async () => {
    using store = openEventLoopStore(roundsDir);
    const lowestRound = async (): Promise<bigint | null> =>
      (await store.facts({ kind: 'owners', snapshot: newest, owners: [], round: 'lowest open' })).round;
    expect(await lowestRound()).toBe(lowest);
    writer.prepare('UPDATE round SET number = number + 1000').run();
    expect(await lowestRound()).toBe(lowest);
    await nextTurn();
    expect(await lowestRound()).toBe(lowest + 1000n);
  });

  test('refuses unbounded reads, and continues', async () => {
    using store = openEventLoopStore(roundsDir);
    const page = { snapshot: newest, owners: expected.owner_party_ids, after: null, pageSize: 1 } as const;
    await expect(store.facts({ kind: 'page', ...page })).rejects.toBe(NOT_BOUNDED);
    await expect(store.facts({ kind: 'snapshots' })).rejects.toBe(NOT_BOUNDED);
    expect(await store.facts({ kind: 'last migration' })).toBe(0);
  });

  test('refuses fees of an owner in many epochs, whose reading it leaves off, and continues', async () => {
    using directory = temporaryDirectory();
    const coins = Array.from({ length: 60 }, (_, i) => `00:01:${String(i).padStart(2, '0')} =u${i} : +c${i} alice 5`);
    const feed = directory.writeLines(
      'feed.ndjson',
      linesOf(parseLedger([...coins, '00:11 =last : +x bob 1'].join('\n')), 'scan'),
    );
    await replayInto(directory.at('data'), [feed], { batchEventsMax: 1, epochEvents: 1, chunkBytes: 64 });
    using store = openEventLoopStore(directory.at('data'));
    const fees = (owner: string) =>
      store.facts({ kind: 'owners', snapshot: newest, owners: [partyOf(owner)], round: 10n ** 9n });
    for (let turn = 0; turn < 3; turn++) {
      await expect(fees('alice')).rejects.toBe(NOT_BOUNDED);
      // The transaction ends with the turn, which it cannot where a statement is still open.
      await nextTurn();
      expect((await fees('bob')).owners).toHaveLength(1);
      await nextTurn();
    }
  });

  test('may be closed in the middle of a turn', async () => {
    const store = openEventLoopStore(roundsDir);
    expect(await store.facts({ kind: 'last migration' })).toBe(0);
    store[Symbol.dispose]();
    await nextTurn();
    await expect(store.facts({ kind: 'last migration' })).rejects.toThrow('not open');
  });
});

// A ledger whose clock is simulated begins there.
test('a change at the first snapshot of all, that of 1970-01-01, is in the list in either order', () => {
  const version = { seq: 1, totals: { unlocked: 5n, locked: 0n, contracts: 1 } };
  const versions = {
    totalsAt: (_: unknown, { seq }: IntervalEnd) => (seq < 1 ? NO_COIN : version.totals),
    between: () => [version],
  };
  const first = { time: 0, seq: 1 };
  const grid = { before: () => BEGINNING, at: () => ({ seq: 1, epoch: 1 }), find: () => first };
  const account = { no: 1, party: 'alice::12', epochs: NO_EPOCHS };
  const about = { migrationId: 0, party: 'alice::12', from: 0, to: 0, rows: 10, grid };
  const change = { recordTime: 0, before: NO_COIN, after: version.totals };
  for (const order of ['asc', 'desc'] satisfies Order[])
    expect(readChanges(versions, [account], { ...about, order })).toEqual({ before: NO_COIN, changes: [change] });
});

const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const { owner_party_ids: owners, snapshots } = readExpected('story');
const options = { dataDir, rules: { emptyOwners: 'zero' }, logger: pino({ level: 'silent' }) } as const;
const last = snapshots.at(-1)!;
const query = {
  migrationId: 0n,
  recordTime: BigInt(Date.parse(last.record_time)) * 1000n,
  match: 'exact',
  owners,
} as const;
const state: Question = { answer: 'state v1', query: { ...query, pageSize: 1000, after: null } };

describe('reads off the event loop', () => {
  test('answer what the event loop would', async () => {
    await using threads = startReaderThreads(options);
    for (const { record_time, summaries_v0 } of snapshots)
      for (const wanted of summaries_v0) {
        const asOfRound = BigInt(wanted.computed_as_of_round);
        const recordTime = BigInt(Date.parse(record_time)) * 1000n;
        const text = await threads.json({ answer: 'summary v0', query: { ...query, recordTime, asOfRound } });
        expect(JSON.parse(text)).toEqual(wanted);
      }
    const page = JSON.parse(await threads.json(state));
    expect(page.created_events).toEqual(last.state_v1);
  });

  test('begin with one thread, and with the others at the first question', async () => {
    let started = 0;
    const count = (): void => void started++;
    subscribe('worker_threads', count);
    await using threads = startReaderThreads(options);
    expect(started).toBe(1);
    await threads.json(state);
    await threads.json(state);
    unsubscribe('worker_threads', count);
    expect(started).toBe(3);
  });

  test('bring back faults, and leave nothing on the signal of a request, which may be that of many pages', async () => {
    await using threads = startReaderThreads(options);
    const { signal } = new AbortController();
    for (let page = 0; page < 20; page++) await threads.json(state, signal);
    const fails = { ...state, query: { ...state.query, recordTime: 1n } } as Question;
    const failed = threads.json(fails, signal);
    await expect(failed).rejects.toThrow(HoldingsFault);
    await expect(failed).rejects.toMatchObject({ code: 'no_snapshot_at' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('are refused where too many wait', async () => {
    await using threads = startReaderThreads(options);
    const asked = await Promise.allSettled(Array.from({ length: 300 }, async () => threads.json(state)));
    const refused = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ code: 'not_begun', message: 'too many reads are waiting; try again later' });
    expect(JSON.parse(await threads.json(state)).created_events).toEqual(last.state_v1);
  });

  test('look for one id at a time, so that other questions find a thread', async () => {
    await using threads = startReaderThreads(options);
    const look = () => threads.table({ table: 'found', query: { id: 'unknown' } }, 'json');
    const looking = [look(), look(), look()];
    expect(threads.load()).toEqual({ busy: 1, waiting: 2 });
    const other = threads.json(state);
    expect(threads.load()).toEqual({ busy: 2, waiting: 2 });
    expect(JSON.parse(await other).created_events).toEqual(last.state_v1);
    for (const { text } of await Promise.all(looking)) expect(JSON.parse(text)).toEqual({ id: 'unknown', found: [] });
  });

  test('end at their time limit with a 503, and others are answered after them', async () => {
    const limit = { ...options, readMsMax: 1 };
    await using hurried = startReaderThreads(limit);
    const late = await Promise.allSettled(Array.from({ length: 10 }, () => hurried.json(state)));
    const reasons = late.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(reasons.length).toBeGreaterThan(0);
    for (const reason of reasons)
      expect(reason).toMatchObject({ code: 'read_too_long', message: expect.stringContaining('longer than') });
    await expect(hurried.json(state)).rejects.toMatchObject({ code: 'read_too_long' });
    await using usual = startReaderThreads(options);
    expect(JSON.parse(await usual.json(state)).created_events).toEqual(last.state_v1);
  });

  test('are not begun for a client that went away while it waited', async () => {
    await using threads = startReaderThreads(options);
    const [gone, others] = [new AbortController(), Array.from({ length: 4 }, () => threads.json(state))];
    const abandoned = threads.json(state, gone.signal);
    gone.abort();
    for (const read of [abandoned, threads.json(state, gone.signal)])
      await expect(read).rejects.toMatchObject({ code: 'not_begun', message: 'the client went away' });
    expect(new Set(await Promise.all(others)).size).toBe(1);
  });

  test('end with the service', async () => {
    const threads = startReaderThreads(options);
    const asked = Array.from({ length: 10 }, () => threads.json(state));
    const [settled] = await Promise.all([Promise.allSettled(asked), threads[Symbol.asyncDispose]()]);
    expect(settled.at(-1)).toMatchObject({ status: 'rejected', reason: { message: 'the service is stopping' } });
  });
});
