import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { Question } from '../../src/http/holdings/answers.ts';
import { startSlowReads } from '../../src/http/holdings/reader-thread.ts';
import { HttpFault } from '../../src/http/server/http-fault.ts';
import { fixture, readExpected } from './expected-answers.ts';
import { makeDataDirectory, openHoldings, post } from './holdings-service.ts';

const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const { owner_party_ids: owners, snapshots } = readExpected('story');
const options = { dataDir, rules: { emptyOwners: 'zero' }, logger: pino({ level: 'silent' }) } as const;
const client = '10.0.0.1';
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
    await using slowReads = startSlowReads(options);
    using service = openHoldings(dataDir, { slowReads });
    for (const snapshot of snapshots)
      for (const expected of snapshot.summaries_v0) {
        const request = { migration_id: 0, record_time: snapshot.record_time, owner_party_ids: owners };
        const as_of_round = expected.computed_as_of_round;
        const response = await post(service.app, '/v0/holdings/summary', { ...request, as_of_round });
        expect(JSON.parse(await response.text())).toEqual(expected);
      }
    const page = JSON.parse(await slowReads.answer(state, { client }));
    expect(page.created_events).toEqual(last.state_v1);
  });

  test('answer many questions at once', async () => {
    await using slowReads = startSlowReads(options);
    const answers = await Promise.all(Array.from({ length: 100 }, () => slowReads.answer(state, { client })));
    expect(new Set(answers).size).toBe(1);
  });

  test('leave a thread to others, however much one client asks', async () => {
    await using slowReads = startSlowReads(options);
    const answered: string[] = [];
    const ask = async (from: string): Promise<void> => {
      await slowReads.answer(state, { client: from });
      answered.push(from);
    };
    // Every thread is up, so that none of them counts as taken because it is only starting.
    for (let round = 0; round < 20; round++) await Promise.all(['10.0.0.4', '10.0.0.5', '10.0.0.6'].map(ask));
    const greedy = Array.from({ length: 100 }, () => ask(client));
    await Promise.all([ask('10.0.0.2'), ask('10.0.0.3')]);
    expect(answered.filter((from) => from === client).length).toBeLessThan(50);
    await Promise.all(greedy);
  });

  test('are refused where too many of one client wait, and not where another asks', async () => {
    await using slowReads = startSlowReads(options);
    const greedy = await Promise.allSettled(
      Array.from({ length: 200 }, async () => slowReads.answer(state, { client })),
    );
    const refused = greedy.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ status: 503, message: 'too many reads are waiting; ask again later' });
    expect(JSON.parse(await slowReads.answer(state, { client: '10.0.0.2' })).created_events).toEqual(last.state_v1);
  });

  test('bring back the fault of an answer', async () => {
    await using slowReads = startSlowReads(options);
    const missing = slowReads.answer(
      { answer: 'state v1', query: { ...state.query, migrationId: 9n } as never },
      { client },
    );
    await expect(missing).rejects.toThrow(HttpFault);
    await expect(missing).rejects.toMatchObject({ status: 404 });
  });

  test('end at their time limit with a 503, and others are answered after them', async () => {
    const limit = { ...options, readMsMax: 1 };
    await using hurried = startSlowReads(limit);
    const late = await Promise.allSettled(Array.from({ length: 10 }, () => hurried.answer(state, { client })));
    const reasons = late.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(reasons.length).toBeGreaterThan(0);
    for (const reason of reasons)
      expect(reason).toMatchObject({ status: 503, message: expect.stringContaining('longer than') });
    await expect(hurried.answer(state, { client })).rejects.toMatchObject({ status: 503 });
    await using patient = startSlowReads(options);
    expect(JSON.parse(await patient.answer(state, { client })).created_events).toEqual(last.state_v1);
  });

  test('are not begun for a client that went away while it waited', async () => {
    await using slowReads = startSlowReads(options);
    const [gone, others] = [
      new AbortController(),
      Array.from({ length: 4 }, () => slowReads.answer(state, { client })),
    ];
    const abandoned = slowReads.answer(state, { client, signal: gone.signal });
    gone.abort();
    await expect(abandoned).rejects.toMatchObject({ status: 503, message: 'the client went away' });
    expect(new Set(await Promise.all(others)).size).toBe(1);
  });

  test('end with the service', async () => {
    const slowReads = startSlowReads(options);
    const asked = Array.from({ length: 10 }, () => slowReads.answer(state, { client }));
    const [settled] = await Promise.all([Promise.allSettled(asked), slowReads[Symbol.asyncDispose]()]);
    expect(settled.at(-1)).toMatchObject({ status: 'rejected', reason: { message: 'the service is stopping' } });
  });
});
