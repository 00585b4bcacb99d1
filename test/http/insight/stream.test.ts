import { afterAll, expect, it } from 'vitest';
import { STREAM_EVENTS } from '../../../src/http/streams.ts';
import {
  type EventStream,
  openStream,
  type StreamOptions,
  shortEvents,
  withoutStatus,
} from '../../support/http/event-stream.ts';
import { fixture } from '../../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings, STATUS } from '../../support/http/holdings-service.ts';
import { type StreamingService, startStreaming } from '../../support/http/streaming-service.ts';
import { allRows, type Row } from '../../support/http/table-pages.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { createRandom } from '../../support/ledger/random.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { linesOf, replayInto, SMALL_EPOCHS } from '../../support/views/replayed.ts';
import { replayWithForced } from '../../support/views/table-views.ts';

const directory = freshDirectory();
const lines = (text: string): readonly string[] => linesOf(parseLedger(text), 'scan');
const [ALICE, BOB] = [partyOf('alice'), partyOf('bob')];

/** Applies updates after those before, in one transaction. */
async function apply(items: readonly string[]): Promise<void> {
  const { halted } = await replayInto(directory.at('data'), [directory.writeLines('more.ndjson', items)], SMALL_EPOCHS);
  expect(halted).toBeNull();
}

async function serving(items: readonly string[] = FIRST): Promise<StreamingService> {
  await apply(items);
  return startStreaming(directory.at('data'));
}

/** A stream that was sent the end of what is sealed. */
async function streamTo(
  { url }: { readonly url: string },
  time: string,
  options: StreamOptions = {},
): Promise<EventStream> {
  const stream = await openStream(url, options);
  await stream.until(() => shortEvents(stream).some((each) => new RegExp(`^(snapshot|reset) .*${time}`).test(each)));
  return stream;
}

const FIRST = lines('00:01 : +a alice 10\n00:02 : +b bob 5\n00:11 : +c alice 7\n00:21 : -b');

it('begins with the status and the newest snapshot, and goes on with what is sealed and applied', async () => {
  await using service = await serving();
  using stream = await streamTo(service, '00:20', { owners: [BOB, ALICE] });
  expect(shortEvents(stream)).toEqual(['status caught_up', 'snapshot 0 00:20']);
  await apply(lines('00:31 : +d alice 1\n00:41 : +e bob 1 ; +f alice 2\n01:11 :'));
  await stream.until(() => shortEvents(stream).includes('snapshot 0 01:10'));
  expect(withoutStatus(stream)).toEqual([
    'snapshot 0 00:20',
    'owner bob 00:30',
    'snapshot 0 00:30',
    'owner alice 00:40',
    'snapshot 0 00:40',
    'owner bob 00:50',
    'owner alice 00:50',
    'snapshot 0 00:50',
    'snapshot 0 01:00',
    'snapshot 0 01:10',
  ]);
});

it('sends what /snapshots and /changes answer, field for field', async () => {
  await using service = await serving();
  using stream = await streamTo(service, '00:20', { owners: [ALICE], lastEventId: '0 2025-02-12T00:10:00Z' });
  const [owner, snapshot] = stream.events.filter(({ name }) => name !== 'status');
  const range = 'migration_id=0&from=2025-02-12T00:20:00Z&to=2025-02-12T00:20:00Z';
  const { snapshots } = (await (await fetch(`${service.url}/holdfast/v1/snapshots?${range}`)).json()) as {
    snapshots: object[];
  };
  const { changes } = (await (await fetch(`${service.url}/holdfast/v1/owners/${ALICE}/changes?${range}`)).json()) as {
    changes: object[];
  };
  const inOrder = (value: unknown): string => JSON.stringify(value);
  expect(inOrder(snapshot!.data)).toBe(inOrder({ migration_id: 0, ...snapshots[0] }));
  const id = `0 2025-02-12T00:20:00Z ${String(snapshot!.data.digest).slice(0, 8)}`;
  expect(snapshot).toMatchObject({ name: 'snapshot', id });
  expect(inOrder(owner!.data)).toBe(inOrder({ migration_id: 0, party_id: ALICE, ...changes[0] }));
  expect(owner).toMatchObject({ name: 'owner', id: null });
  expect(stream.named('status')[0]).toEqual({
    name: 'status',
    id: null,
    data: { ...STATUS, lag_seconds: 0 },
  });
  expect(inOrder(Object.keys(stream.named('status')[0]!.data))).toBe(
    inOrder(['phase', 'lag_seconds', 'updates', 'halted', 'degraded', 'ready', 'reasons', 'source']),
  );
});

it('resumes by the header or by the parameter; the header counts, and an empty one is none', async () => {
  await using service = await serving();
  const [first, none] = ['0 2025-02-12T00:10:00Z', 'no id'];
  for (const options of [
    { lastEventId: first },
    { lastEventIdParameter: first },
    { lastEventId: first, lastEventIdParameter: none },
    { lastEventId: '', lastEventIdParameter: first },
  ]) {
    using stream = await streamTo(service, '00:20', { ...options, owners: [ALICE] });
    expect(shortEvents(stream)).toEqual(['status caught_up', 'owner alice 00:20', 'snapshot 0 00:20']);
  }
  using begun = await streamTo(service, '00:20', { lastEventIdParameter: '', owners: [ALICE] });
  expect(shortEvents(begun)).toEqual(['status caught_up', 'snapshot 0 00:20']);
});

it('sends a reset with the newest snapshot to a client with an id that is unknown or unreadable', async () => {
  await using service = await serving();
  const unknown = ['0 2025-02-12T00:15:00Z', '-7 2025-02-12T00:10:00Z', '0 2025-02-12T00:10:00Z 01234567'];
  for (const lastEventId of [...unknown, 'x', '0  2025-02-12T00:10:00Z', '0 2025-02-12T00:10:00Z 1']) {
    using stream = await streamTo(service, '00:20', { lastEventId, owners: [ALICE] });
    expect(shortEvents(stream)).toEqual(['status caught_up', 'reset 0 00:20']);
    expect(stream.named('reset')[0]!.id).toMatch(/^0 2025-02-12T00:20:00Z [0-9a-f]{8}$/);
  }
  using stream = await streamTo(service, '00:20', { lastEventId: 'x', owners: [ALICE] });
  await apply(lines('00:31 : +d alice 1\n00:41 :'));
  await stream.until(() => shortEvents(stream).includes('snapshot 0 00:40'));
  expect(withoutStatus(stream).slice(1)).toEqual(['snapshot 0 00:30', 'owner alice 00:40', 'snapshot 0 00:40']);
});

it('resets a client that is more than 1000 snapshots behind, and no other', async () => {
  // The first snapshot is that of 00:10, and 1001 more are sealed by the last update.
  const jump = lines('00:11 :').map((line) => line.replaceAll('2025-02-12T00:11', '2025-02-19T00:01'));
  await using service = await serving([...FIRST, ...jump]);
  const newest = '2025-02-19T00:00:00Z';
  using last = await openStream(service.url, { lastEventId: '0 2025-02-12T01:20:00Z' });
  await last.until(() => last.events.at(-1)?.data.record_time === newest);
  expect(last.named('snapshot')).toHaveLength(1000);
  expect(last.named('reset')).toEqual([]);
  using late = await openStream(service.url, { lastEventId: '0 2025-02-12T01:10:00Z' });
  await late.until(() => late.events.length > 1);
  expect(late.events.map(({ name, id }) => [name, id])).toEqual([
    ['status', null],
    ['reset', `0 ${newest} ${String(late.events[1]!.data.digest).slice(0, 8)}`],
  ]);
});

it('follows the order of sealing where an older migration still seals', async () => {
  const text = `
    00:01 : +a alice 10
    00:11 m1 : +b bob 5
    00:21 m1 :
    00:12 : -a
    00:31 m1 : -b
    00:32 : +c alice 2`;
  await using service = await serving(lines(text));
  const inOrder = ['1 00:20', '0 00:10', '1 00:30', '0 00:20', '0 00:30'];
  const sealed = inOrder.map((each) => `snapshot ${each}`);
  using whole = await streamTo(service, '0 00:30', { lastEventId: '1 2025-02-12T00:20:00Z' });
  expect(withoutStatus(whole)).toEqual(sealed.slice(1));
});

const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);

it('sends a change of phase, halt or degradation at once, and other changes with it', async () => {
  await using service = await startStreaming(dataDir, { statusIntervalMs: 3_600_000 });
  using stream = await openStream(service.url);
  await stream.until(() => stream.named('snapshot').length === 1);
  const changes = [
    { phase: 'reading', lag_seconds: 12.5, updates: 7 },
    { phase: 'halted', halted: { location: 'a file, message 3', reason: 'it is bad' }, updates: 8 },
    { halted: { location: 'a file, message 4', reason: 'it is bad' } },
    { phase: 'reading', halted: null, degraded: ['1 update is quarantined'] },
    { ready: false, reasons: ['the network cannot be read'] },
    { source: 'https://scan.example' },
  ] as const;
  let wanted: object = { ...STATUS, lag_seconds: 0 };
  const all = [wanted];
  for (const change of changes) {
    service.set({ updates: 1_000_000 });
    service.set({ updates: 0, ...change } as never);
    wanted = { ...wanted, updates: 0, ...change };
    all.push(wanted);
    await stream.until(() => stream.named('status').length === all.length);
  }
  expect(stream.named('status').map(({ data }) => data)).toEqual(all);
});

it('sends the number of updates and the reasons in their turn, and nothing where they are the same', async () => {
  await using service = await startStreaming(dataDir, { statusIntervalMs: 100 });
  using stream = await openStream(service.url);
  await stream.until(() => stream.named('status').length === 1);
  service.set({ updates: 7, lag_seconds: 3 });
  await stream.until(() => stream.named('status').length === 2);
  service.set({ lag_seconds: 4 });
  using later = await openStream(service.url);
  await later.until(() => later.events.length === 2);
  service.set({ updates: 8 });
  await stream.until(() => stream.named('status').length === 3);
  service.set({ lag_seconds: 5, reasons: ['the file was not applied to its end for 2 s'] });
  await stream.until(() => stream.named('status').length === 4);
  expect(stream.named('status').map(({ data }) => [data.updates, data.lag_seconds])).toEqual([
    [0, 0],
    [7, 3],
    [8, 4],
    [8, 5],
  ]);
});

it('sends a comment where there is nothing else to send', async () => {
  await using service = await startStreaming(dataDir, { silenceMs: 50 });
  using stream = await openStream(service.url);
  await stream.until(() => stream.text.endsWith('\n\n:\n\n:\n\n:\n\n'));
  expect(stream.events.map(({ name }) => name)).toEqual(['status', 'snapshot']);
});

const service = await startStreaming(dataDir);
afterAll(() => service[Symbol.asyncDispose]());

async function ask(query: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(`${service.url}/holdfast/v1/stream${query}`, init);
}

it('has the headers of a stream that nothing on the way may keep or collect', async () => {
  using stream = await openStream(service.url, {
    headers: { origin: 'https://a.example', 'accept-encoding': 'gzip, br' },
  });
  expect(stream.status).toBe(200);
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'access-control-allow-origin': '*',
  });
  expect(stream.headers['content-encoding']).toBeUndefined();
  expect(stream.headers.etag).toBeUndefined();
});

it('answers HEAD with the head, and opens no stream', async () => {
  await expect.poll(() => service.streams.openCount()).toBe(0);
  const head = await ask('', { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'text/event-stream', '']);
  expect(head.headers.get('cache-control')).toBe('no-store');
  expect(service.streams.openCount()).toBe(0);
  expect((await ask('?owner=x', { method: 'HEAD' })).status).toBe(400);
});

const PARTY =
  'a party id, <1-185 characters>::<1-68 characters> of letters, digits, ":", "-", "_" and space, without another "::"';

it.each([
  ['?owner=alice', `owner: given "alice", expected ${PARTY}`],
  ['?owner=', `owner: given "", expected ${PARTY}`],
  [`?owner=${partyOf('a')}&owner=b`, `owner: given "b", expected ${PARTY}`],
  [
    '?limit=3',
    'limit: given "3", expected no such parameter, only owner, events, last_event_id, instrument_admin, instrument_id',
  ],
  [
    '?format=csv',
    'format: given "csv", expected no such parameter, only owner, events, last_event_id, instrument_admin, instrument_id',
  ],
  [
    '?Owner=a::b',
    'Owner: given "a::b", expected no such parameter, only owner, events, last_event_id, instrument_admin, instrument_id',
  ],
  ['?last_event_id=a&last_event_id=b', 'last_event_id: given "b", expected it once, and it is given twice'],
])('refuses %s', async (query, error) => {
  const response = await ask(query);
  expect([response.status, await response.json()]).toEqual([400, { error, code: 'invalid' }]);
});

it('takes a hundred owners, and one of them as often as it is given', async () => {
  const tooMany = await ask(`?${Array(101).fill('owner=a::b').join('&')}`);
  const error = 'owner: given 101 times, expected at most 100';
  expect([tooMany.status, await tooMany.json()]).toEqual([400, { error, code: 'invalid' }]);
  const owners = Array.from({ length: 100 }, (_, i) => partyOf(`o${i % 60}`));
  using stream = await openStream(service.url, { owners });
  await stream.until(() => stream.events.length === 2);
  expect(stream.status).toBe(200);
});

it('sends what its document says', async () => {
  const alice = 'alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec';
  const all = { owners: [alice], events: 'movements,snapshots' };
  using stream = await openStream(service.url, { ...all, lastEventId: '0 2025-02-12T00:10:00Z' });
  using reset = await openStream(service.url, { lastEventId: 'x' });
  await stream.until(() => stream.named('snapshot').length === 6);
  await reset.until(() => reset.named('reset').length === 1);
  const events = [...stream.events, ...reset.events];
  expect([...new Set(events.map(({ name }) => name))].sort()).toEqual(Object.keys(STREAM_EVENTS).sort());
  for (const { name, data } of events)
    expect(STREAM_EVENTS[name as keyof typeof STREAM_EVENTS].safeParse(data).error?.issues ?? []).toEqual([]);
});

it.each([1, 2])('from any snapshot of random ledger %i on gives the rows of the tables, in one order', async (seed) => {
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
    if (last.startsWith(lastEventId)) continue;
    using stream = await openStream(service.url, { owners, lastEventId });
    await stream.until(() => stream.events.at(-1)?.id === last);
    const sent = stream.named('snapshot').map(({ data }) => idOf(data));
    if (whole.length === 0) whole = [lastEventId, ...sent];
    if (whole.includes(lastEventId)) expect(sent).toEqual(whole.slice(whole.indexOf(lastEventId) + 1));
    const wanted = sent.flatMap((id) => [...(changesAt.get(id) ?? []), expected.get(id)!]);
    expect(stream.named('owner', 'snapshot').map(({ data }) => data)).toEqual(wanted);
  }
  expect(whole.length).toBeGreaterThan(20);
});
