import { expect, it } from 'vitest';
import { startCuttingProxy } from '../../support/http/cutting-proxy.ts';
import { openStream, type StreamEvent } from '../../support/http/event-stream.ts';
import { openHoldings } from '../../support/http/holdings-service.ts';
import { type LiveService, startLiveService } from '../../support/http/live-service.ts';
import { startStreaming } from '../../support/http/streaming-service.ts';
import { allRows, type Row } from '../../support/http/table-pages.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { createRandom } from '../../support/ledger/random.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { linesOf } from '../../support/views/replayed.ts';
import { replayWithForced } from '../../support/views/table-views.ts';

const directory = freshDirectory();
const ALICE = partyOf('alice');

/** What a client keeps that comes back after each cut: events of owners count once their snapshot has closed them. */
async function follow(
  url: string,
  until: string,
  beforeEach: () => void,
): Promise<{ readonly kept: StreamEvent[]; readonly cuts: number }> {
  const kept: StreamEvent[] = [];
  let lastEventId = '0 2025-02-12T00:10:00Z';
  for (let cuts = 0; ; cuts++) {
    beforeEach();
    using stream = await openStream(url, { owners: [ALICE], lastEventId });
    await Promise.race([stream.ended, stream.until((each) => each.events.at(-1)?.id === until).catch(() => {})]);
    const events = stream.events.filter(({ name }) => name !== 'status');
    const closed = events.slice(0, events.findLastIndex(({ name }) => name === 'snapshot') + 1);
    kept.push(...closed);
    lastEventId = closed.at(-1)?.id ?? lastEventId;
    if (lastEventId === until) return { kept, cuts };
  }
}

async function rowsOf(service: LiveService, table: string): Promise<Row[]> {
  const range = 'migration_id=0&from=2025-02-12T00:20:00Z&order=asc&limit=1000';
  const answer = await service.get(`/holdfast/v1/${table}?${range}`);
  return (answer.snapshots ?? answer.changes) as Row[];
}

it('has every snapshot and every change once, however often a proxy cuts it in the middle of an event', async () => {
  const random = createRandom(4);
  const minutes = Array.from({ length: 60 }, (_, i) => `${10 + Math.floor(i / 6)}:${i % 6}1`);
  const texts = minutes.map((time, i) => `${time} =u${i} : ${i % 3 === 0 ? `+c${i} alice 1` : ''}`);
  const lines = texts.flatMap((text) => linesOf(parseLedger(text), 'scan'));
  const first = linesOf(parseLedger('00:01 =a : +a alice 10\n00:11 =b :'), 'scan');
  await using service = await startLiveService(directory, { lines: first });
  await service.untilApplied(2);
  await using proxy = await startCuttingProxy(service.url);
  const following = follow(proxy.url, '0 2025-02-12T19:50:00Z', () => proxy.cutAfter(700 + random.below(2_400)));
  for (const line of lines) {
    service.network.add(line);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  const { kept, cuts } = await following;
  expect(cuts).toBeGreaterThan(10);
  const of = (name: string): object[] => kept.filter((event) => event.name === name).map(({ data }) => data);
  const snapshots = await rowsOf(service, 'snapshots');
  expect(of('snapshot')).toEqual(snapshots.map((row) => ({ migration_id: 0, ...row })));
  const changes = await rowsOf(service, `owners/${ALICE}/changes`);
  expect(of('owner')).toEqual(changes.map((row) => ({ migration_id: 0, party_id: ALICE, ...row })));
  expect(changes.length).toBeGreaterThan(15);
});

it.each([1, 2, 3])(
  'from any snapshot of random ledger %i on gives the rows of the tables, in one order',
  async (seed) => {
    const random = createRandom(seed);
    const options = { migrations: 1 + (seed % 3), carriedOver: seed % 2 === 0 ? 15 : 0, shares: { checkpoint: 0 } };
    const items = [...randomLedger(oddLedger(seed, { ...options, updates: 250 }))];
    const cuts = Array.from({ length: 4 }, () => 1 + random.below(items.length)).sort((a, b) => a - b);
    const { dataDir, snapshots } = await replayWithForced(directory, items, cuts);
    const owners = [...new Set(snapshots.flatMap((each) => [...each.owners.keys()]))].slice(0, 100);
    using tables = openHoldings(dataDir);
    await using service = await startStreaming(dataDir);
    /** Rows of a table in all migrations, in order of time. */
    const rows = async (path: string, fields: Row): Promise<Row[]> => {
      const ids = [...new Set(snapshots.map(({ migrationId }) => migrationId))];
      const all = ids.map(async (migration_id) => {
        const found = await allRows(tables.app, `/holdfast/v1/${path}`, { migration_id, order: 'asc', limit: 1000 });
        return found.map((row) => ({ migration_id, ...fields, ...row }));
      });
      return (await Promise.all(all)).flat();
    };
    const idOf = ({ migration_id, record_time }: Row): string => `${migration_id} ${record_time}`;
    const expected = new Map((await rows('snapshots', {})).map((row) => [idOf(row), row]));
    const changes = await Promise.all(owners.map((party_id) => rows(`owners/${party_id}/changes`, { party_id })));
    const changesAt = Map.groupBy(changes.flat(), idOf);

    let whole: string[] = [];
    const ids = [...expected.keys()];
    for (const lastEventId of [ids[0]!, ...Array.from({ length: 5 }, () => random.pick(ids))]) {
      using newest = await openStream(service.url);
      await newest.until(() => newest.events.length === 2);
      const last = newest.events[1]!.id!;
      if (last === lastEventId) continue;
      using stream = await openStream(service.url, { owners, lastEventId });
      await stream.until(() => stream.events.at(-1)?.id === last);
      const sent = stream.named('snapshot').map(({ id }) => id!);
      if (whole.length === 0) whole = [lastEventId, ...sent];
      if (whole.includes(lastEventId)) expect(sent).toEqual(whole.slice(whole.indexOf(lastEventId) + 1));
      const wanted = sent.flatMap((id) => [...(changesAt.get(id) ?? []), expected.get(id)!]);
      expect(stream.named('owner', 'snapshot').map(({ data }) => data)).toEqual(wanted);
    }
    expect(whole.length).toBeGreaterThan(20);
  },
);
