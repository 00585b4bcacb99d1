import DatabaseFile from 'better-sqlite3';
import { expect, it } from 'vitest';
import { type EventStream, openStream, shortEvents, withoutStatus } from '../../support/http/event-stream.ts';
import { type StreamingService, startStreaming } from '../../support/http/streaming-service.ts';
import { importsOfOne } from '../../support/ledger/history.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import { foldMovements } from '../../support/ledger/oracle-movements.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { createRandom } from '../../support/ledger/random.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { shortTime } from '../../support/ledger/wire-text.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { type Cuts, linesOf, replayInto, SMALL_EPOCHS, TEN_MINUTES_US } from '../../support/views/replayed.ts';
import { replayWithForced } from '../../support/views/table-views.ts';

const directory = freshDirectory();
const OWNERS = ['alice', 'bob', 'carol'].map(partyOf);
const MOVEMENTS = { owners: OWNERS, events: 'movements' } as const;
const DAY = '2025-02-12T';
let looks = 0;

/** The updates of a ledger so far; what is there already is redelivered. */
async function apply(text: string, { at = 'data', cuts = SMALL_EPOCHS }: { at?: string; cuts?: Cuts } = {}) {
  const file = directory.writeLines(`${at}.ndjson`, linesOf(parseLedger(text), 'scan'));
  const { halted } = await replayInto(directory.at(at), [file], cuts);
  expect(halted).toBeNull();
}

async function serving(text: string, at = 'data'): Promise<StreamingService> {
  await apply(text, { at });
  return startStreaming(directory.at(at));
}

/** Waits until an event is the last one, and for one more look, so that none comes behind it. */
async function upTo(stream: EventStream, service: StreamingService, last: string): Promise<string[]> {
  await stream.until(() => shortEvents(stream).includes(last));
  const statuses = stream.named('status').length;
  service.set({ degraded: [`look ${looks++}`] });
  await stream.until(() => stream.named('status').length > statuses);
  expect(withoutStatus(stream).at(-1)).toBe(last);
  return withoutStatus(stream);
}

const FIRST = `
  00:01 =u1 : +a alice 10 ; +b bob 5
  00:02 =u2 : +c carol 1 ; -b ; +d alice 4
  00:11 =u3 : -c ; +e carol 3 ; +f bob 3`;
const MORE = `
  00:12 =u4 : -a ; +g alice 6 ; +h alice 4
  00:13 =u5 : -d ; +i alice 1 locked ; +j bob 2 ; +k carol 1
  00:14 =u6 : +l alice 7 ; -l
  00:15 =u7 : -g ; +m alice 6 locked
  00:41 =u8 : -i ; +n bob 1`;

const [S0, S1] = ['snapshot 0 00:10', 'snapshot 0 00:40'];
/** Of one update the largest change first, of equals by party id. A merge, and what comes and goes, moves nothing. */
const OF_MORE = [
  'movement alice u5 -3',
  'movement bob u5 2',
  'movement carol u5 1',
  'movement alice u7 0',
  'snapshot 0 00:20',
  'snapshot 0 00:30',
  S1,
  'movement alice u8 -1',
  'movement bob u8 1',
];
const FROM_FIRST = ['movement bob u3 3', 'movement carol u3 2'];

it('begins with the newest snapshot and the movements after it, and goes on with each update before its snapshot', async () => {
  await using service = await serving(FIRST);
  using stream = await openStream(service.url, MOVEMENTS);
  using both = await openStream(service.url, { owners: OWNERS.slice(0, 1), events: 'movements,snapshots' });
  expect(await upTo(stream, service, 'movement carol u3 2')).toEqual([S0, ...FROM_FIRST]);
  await apply(FIRST + MORE);
  expect(await upTo(stream, service, 'movement bob u8 1')).toEqual([S0, ...FROM_FIRST, ...OF_MORE]);
  const ofAlice = OF_MORE.filter((each) => !/bob|carol/.test(each));
  expect(await upTo(both, service, 'movement alice u8 -1')).toEqual([
    S0,
    ofAlice[0],
    ofAlice[1],
    'owner alice 00:20',
    ...ofAlice.slice(2),
  ]);
});

it('sends the row of the table movements, under an id of the ledger', async () => {
  await using service = await serving(FIRST + MORE);
  using stream = await openStream(service.url, { ...MOVEMENTS, lastEventId: `0 ${DAY}00:10:00Z` });
  await upTo(stream, service, 'movement bob u8 1');
  for (const [i, party] of OWNERS.entries()) {
    const rows = `${service.url}/holdfast/v1/owners/${party}/movements?from=${DAY}00:10:00.000001Z&order=asc`;
    const { movements } = (await (await fetch(rows)).json()) as { movements: object[] };
    const sent = stream.named('movement').filter(({ data }) => data.party_id === party);
    expect(sent.length).toBeGreaterThan(1 - i);
    const wanted = movements.map((row) => ({ migration_id: 0, party_id: party, ...row }));
    expect(JSON.stringify(sent.map(({ data }) => data))).toBe(JSON.stringify(wanted));
  }
  expect(stream.named('movement')[0]!.id).toBe(`0 2025-02-12T00%3A11%3A00Z u3 bob%3A%3A1220ab`);
});

it('resumes at every id, here and in another replica, and each movement comes once', async () => {
  await using service = await serving(FIRST + MORE);
  await apply(FIRST + MORE, { at: 'other', cuts: { batchEventsMax: 100, epochEvents: 3 } });
  await using other = await startStreaming(directory.at('other'));
  const first = `0 ${DAY}00:10:00Z`;
  using whole = await openStream(service.url, { ...MOVEMENTS, lastEventId: first });
  await upTo(whole, service, 'movement bob u8 1');
  const events = whole.events.filter(({ name }) => name !== 'status');
  expect(withoutStatus(whole)).toEqual([...FROM_FIRST, ...OF_MORE]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  for (const [at, { id }] of events.slice(0, -1).entries())
    for (const each of [service, other]) {
      using resumed = await openStream(each.url, { ...MOVEMENTS, lastEventId: id! });
      await resumed.until(() => resumed.events.at(-1)?.id === events.at(-1)!.id);
      expect(resumed.events.filter(({ name }) => name !== 'status')).toEqual(events.slice(at + 1));
    }
  // A stream of snapshots resumes behind a movement too.
  using snapshots = await openStream(service.url, { lastEventId: events[1]!.id! });
  expect(await upTo(snapshots, service, S1)).toEqual(OF_MORE.filter((each) => each.startsWith('snapshot')));
});

it('resets where an id is not known although its time has passed, and where movements were not yet kept', async () => {
  await using service = await serving(FIRST + MORE);
  const movement = (time: string, update: string, party: string): string => `0 ${DAY}${time}Z ${update} ${party}`;
  using known = await openStream(service.url, { ...MOVEMENTS, lastEventId: movement('00:11:00', 'u3', OWNERS[2]!) });
  expect((await upTo(known, service, 'movement bob u8 1'))[0]).toBe(OF_MORE[0]);
  const unknown = [
    movement('00:11:00', 'u3', OWNERS[0]!),
    movement('00:11:00', 'u4', OWNERS[2]!),
    movement('00:11:01', 'u3', OWNERS[2]!),
    `${movement('00:11:00', 'u3', 'carol%')}`,
    `${movement('00:11:00', 'u3', OWNERS[2]!)} x`,
    `0 ${DAY}00:10:00Z 00000000`,
    `0 ${DAY}00:10:00Z DEADBEEF`,
  ];
  const reset = ['reset 0 00:40', 'movement alice u8 -1', 'movement bob u8 1'];
  for (const lastEventId of unknown) {
    using stream = await openStream(service.url, { ...MOVEMENTS, lastEventId });
    expect([lastEventId, await upTo(stream, service, 'movement bob u8 1')]).toEqual([lastEventId, reset]);
  }
  using db = { file: new DatabaseFile(directory.at('data/views.db')), [Symbol.dispose]: () => db.file.close() };
  db.file.prepare('UPDATE migration SET movements_since = ?').run(Date.parse(`${DAY}00:15:00Z`) * 1000);
  using before = await openStream(service.url, { ...MOVEMENTS, lastEventId: `0 ${DAY}00:10:00Z` });
  expect(await upTo(before, service, 'movement bob u8 1')).toEqual(reset);
  using since = await openStream(service.url, { ...MOVEMENTS, lastEventId: `0 ${DAY}00:20:00Z` });
  expect((await upTo(since, service, 'movement bob u8 1'))[0]).toBe('snapshot 0 00:30');
  using snapshots = await openStream(service.url, { lastEventId: `0 ${DAY}00:10:00Z` });
  expect((await upTo(snapshots, service, S1))[0]).toBe('snapshot 0 00:20');
});

it('waits for an id whose time is not reached, and resets once that has passed without it', async () => {
  await using service = await serving(FIRST);
  const ids = [
    `0 ${DAY}00:13:00Z u5 ${OWNERS[0]}`,
    `0 ${DAY}00:20:00Z`,
    `0 ${DAY}00:40:59Z none ${OWNERS[0]}`,
    `1 ${DAY}00:10:00Z`,
  ];
  using opened = new DisposableStack();
  const open = (lastEventId: string): Promise<EventStream> => openStream(service.url, { ...MOVEMENTS, lastEventId });
  const streams = await Promise.all(ids.map(async (id) => opened.use(await open(id))));
  for (const [i, stream] of streams.entries()) {
    await stream.until(() => stream.named('status').length > 0);
    service.set({ degraded: [`wait ${i}`] });
    await stream.until(() => stream.named('status').length > 1);
    expect(withoutStatus(stream)).toEqual([]);
  }
  await apply(FIRST + MORE);
  const [behind, snapshot, none, later] = streams as [EventStream, EventStream, EventStream, EventStream];
  expect(await upTo(behind, service, 'movement bob u8 1')).toEqual(OF_MORE.slice(1));
  expect(await upTo(snapshot, service, 'movement bob u8 1')).toEqual(OF_MORE.slice(5));
  expect(await upTo(none, service, 'movement bob u8 1')).toEqual(['reset 0 00:40', ...OF_MORE.slice(-2)]);
  expect(withoutStatus(later)).toEqual([]);
});

it('sends a long backlog whole to a client that takes it slowly, and what is new to the others meanwhile', async () => {
  const updates = Array.from({ length: 3_000 }, (_, i) => {
    const [minute, second] = [Math.floor(i / 80), 10 + (i % 80)].map((each) => String(each).padStart(2, '0'));
    return `00:${minute}:01.0000${second} =v${i} : +v${i} ${i % 3 === 0 ? 'carol' : 'alice'} 1${i > 5 ? ` ; -v${i - 5}` : ''}`;
  });
  await using service = await serving(updates.join('\n'));
  const lastEventId = `0 ${DAY}00:10:00Z`;
  using slow = await openStream(service.url, { ...MOVEMENTS, lastEventId });
  slow.pause();
  using whole = await openStream(service.url, { ...MOVEMENTS, lastEventId });
  using other = await openStream(service.url, { ...MOVEMENTS, owners: OWNERS.slice(1, 2) });
  await other.until(() => other.named('snapshot').length === 1);
  await apply([...updates, '00:59 =last : +w bob 1'].join('\n'));
  await other.until(() => other.named('movement').length === 1);
  await whole.until(() => whole.named('movement').at(-1)?.data.update_id === 'last');
  slow.resume();
  await slow.until(() => slow.named('movement').at(-1)?.data.update_id === 'last');
  const sent = whole.named('movement', 'snapshot').map(({ id }) => id);
  expect(new Set(sent).size).toBe(sent.length);
  expect(sent.length).toBeGreaterThan(2_000);
  expect(slow.named('movement', 'snapshot').map(({ id }) => id)).toEqual(sent);
});

it('sends all movements, and of the snapshots the newest, to a client that is more than 1000 snapshots behind', async () => {
  const jump = '00:12 =j : -a ; +z bob 9';
  const lines = linesOf(parseLedger(`${FIRST}\n${jump}`), 'scan').map((line, i) =>
    i < 3 ? line : line.replaceAll(`${DAY}00:12`, '2025-02-20T00:12'),
  );
  await replayInto(directory.at('data'), [directory.writeLines('jump.ndjson', lines)], SMALL_EPOCHS);
  await using service = await startStreaming(directory.at('data'));
  using stream = await openStream(service.url, { ...MOVEMENTS, lastEventId: `0 ${DAY}00:10:00Z` });
  const sent = await upTo(stream, service, 'movement bob j 9');
  const newest = 'snapshot 0 00:10 skipped true';
  expect(sent).toEqual([...FROM_FIRST, newest, 'movement alice j -10', 'movement bob j 9']);
});

it.each([1, 2, 3])('sends each movement of random ledger %i once, before the snapshot that holds it', async (seed) => {
  const random = createRandom(seed);
  const shares = { checkpoint: 0, olderMigration: 0.3 };
  const options = { migrations: 1 + (seed % 3), carriedOver: 15, synchronizers: 1 + (seed % 3), shares };
  const all = [...randomLedger(oddLedger(seed, { ...options, updates: 200 }))];
  const items = all.flatMap((item) => importsOfOne(item));
  const cuts = Array.from({ length: 4 }, () => 1 + random.below(items.length)).sort((x, y) => x - y);
  const { dataDir, snapshots } = await replayWithForced(directory, items, cuts);
  const histories = foldMovements(items, { periodMicros: TEN_MINUTES_US, cuts, knowsAll: true });
  await using service = await startStreaming(dataDir);
  const owners = [...new Set(histories.flatMap(({ updates }) => updates.flat().map(({ party }) => party)))];
  using newest = await openStream(service.url);
  await newest.until(() => newest.named('snapshot').length === 1);
  const last = newest.named('snapshot')[0]!.id;
  const begin = snapshots[random.below(3)]!;
  const lastEventId = `${begin.migrationId} ${shortTime(begin.recordTime)}`;
  using stream = await openStream(service.url, { body: { owners, events: 'movements', last_event_id: lastEventId } });
  await stream.until(() => stream.events.some(({ id }) => id === last));
  for (const { migrationId, updates } of histories) {
    const own = stream.events.filter(({ name, data }) => name !== 'status' && data.migration_id === migrationId);
    const sealedTo = own.findLast(({ name }) => name === 'snapshot')?.data.record_time ?? '';
    // Times of one length are in the order of their texts.
    const padded = (time: unknown): string => {
      const [seconds, fraction = ''] = String(time).slice(0, -1).split('.');
      return `${seconds}.${fraction.padEnd(6, '0')}`;
    };
    const wanted = updates
      .flat()
      .filter((each) => migrationId !== begin.migrationId || each.countedAt > begin.recordTime)
      .map(({ party, row }) => ({ migration_id: migrationId, party_id: party, ...row }));
    const sent = own.filter(({ name }) => name === 'movement').map(({ data }) => data);
    expect(sent).toEqual(wanted.slice(0, sent.length));
    const left = wanted.slice(sent.length) as readonly Readonly<Record<string, unknown>>[];
    expect(left.filter((row) => padded(row.counted_at) <= padded(sealedTo))).toEqual([]);
    let time = '';
    for (const { name, data } of own) {
      if (name === 'snapshot') time = padded(data.record_time);
      else expect(padded(data.counted_at) > time).toBe(true);
    }
  }
  expect(stream.named('movement').length).toBeGreaterThan(100);
});

it.each([1, 2])('sends streams of the same owners the same, whenever they are opened (%i)', async (seed) => {
  const random = createRandom(seed);
  const lines = linesOf(randomLedger(oddLedger(seed, { updates: 600, shares: { checkpoint: 0 } })), 'scan');
  const owners = [
    ...new Set(
      lines
        .join()
        .matchAll(/"owner":"([^"]+)"/g)
        .map(([, owner]) => owner!),
    ),
  ];
  const applyTo = (end: number) =>
    replayInto(directory.at('data'), [directory.writeLines('parts.ndjson', lines.slice(0, end))], SMALL_EPOCHS);
  await applyTo(90);
  await using service = await startStreaming(directory.at('data'));
  using all = await openStream(service.url, { body: { owners, events: 'movements' } });
  using others = new DisposableStack();
  const opened: { readonly stream: EventStream; readonly own: ReadonlySet<unknown> }[] = [];
  // Of a few updates the movements are read for all; of many, a stream reads most by itself.
  for (let end = 90; end < lines.length; ) {
    end += random.chance(0.5) ? 10 : 150;
    const applied = applyTo(end);
    const own = owners.filter(() => random.chance(0.6));
    opened.push({
      stream: others.use(await openStream(service.url, { body: { owners: own, events: 'movements' } })),
      own: new Set(own),
    });
    await applied;
  }
  using newest = await openStream(service.url);
  await newest.until(() => newest.named('snapshot').length > 0);
  const last = newest.named('snapshot')[0]!.id;
  const eventsOf = async (stream: EventStream) => {
    await stream.until(() => stream.events.some(({ id }) => id === last));
    const sent = stream.named('movement', 'snapshot');
    return sent.slice(0, sent.findIndex(({ id }) => id === last) + 1);
  };
  const wanted = await eventsOf(all);
  expect(wanted.filter(({ name }) => name === 'movement').length).toBeGreaterThan(400);
  for (const { stream, own } of opened) {
    const sent = await eventsOf(stream);
    const from = wanted.findIndex(({ id }) => id === sent[0]!.id);
    const isFor = ({ name, data }: (typeof sent)[number]): boolean => name === 'snapshot' || own.has(data.party_id);
    expect(sent).toEqual(wanted.slice(from).filter(isFor));
  }
});

const PARTIES = Array.from({ length: 1_001 }, (_, i) => partyOf(`o${i}`));

it('takes a thousand owners in a body, and names what is wrong', async () => {
  await using service = await serving(FIRST);
  using stream = await openStream(service.url, {
    body: { owners: [...PARTIES.slice(2), OWNERS[1]], events: 'movements' },
  });
  await stream.until(() => stream.named('movement').length === 1);
  expect(withoutStatus(stream)).toEqual([S0, 'movement bob u3 3']);
  const wrong: readonly (readonly [object | string, string])[] = [
    [{ owners: PARTIES }, 'owners: given 1001, expected at most 1000'],
    [{ owners: ['alice'] }, 'owners[0]: given "alice", expected a party id'],
    [{ owners: OWNERS[0] }, 'owners: given "alice::1220ab", expected a list of party ids'],
    [{ owner: OWNERS }, 'owner: given ["alice::1220ab","bob::1220ab","carol::1220ab"], expected no such field'],
    [{ owners: OWNERS, events: 'x' }, 'events: given "x", expected snapshots or movements or movements,snapshots'],
    [{ owners: [], events: 'movements' }, 'events: given "movements", expected an owner whose movements to send'],
    [{ last_event_id: 7 }, 'last_event_id: given 7, expected the id of an event'],
    ['?events=movements', 'events: given "movements", expected an owner whose movements to send'],
    ['?events=', 'events: given "", expected snapshots or movements or movements,snapshots'],
    ['?events=snapshots&events=movements', 'events: given "movements", expected it once'],
  ];
  const headers = { 'content-type': 'application/json' };
  for (const [body, error] of wrong) {
    const query = typeof body === 'string' ? body : '';
    const init = query === '' ? { method: 'POST', headers, body: JSON.stringify(body) } : {};
    const response = await fetch(`${service.url}/holdfast/v1/stream${query}`, init);
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: expect.stringContaining(error), code: 'invalid' },
    ]);
  }
  const init = { method: 'POST', headers, body: JSON.stringify({ owners: OWNERS }) };
  const response = await fetch(`${service.url}/holdfast/v1/stream?events=movements`, init);
  const error = 'events: given "movements", expected no parameter, only fields of the body';
  expect([response.status, await response.json()]).toEqual([400, { error, code: 'invalid' }]);
});
