import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import DatabaseFile from 'better-sqlite3';
import { expect, it } from 'vitest';
import {
  createClient,
  type FollowedMovement,
  type MovementsOptions,
  type StreamEvent,
  type StreamOptions,
} from '../../client/src/index.ts';
import { collect } from '../support/http/collected.ts';
import { openStream } from '../support/http/event-stream.ts';
import { type Service, startService } from '../support/http/service.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { freePorts } from '../support/program/free-ports.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { linesOf } from '../support/views/replayed.ts';

const directory = freshDirectory();
const [ALICE, BOB] = [partyOf('alice'), partyOf('bob')];
const DAY = '2025-02-12T';
const BEFORE = `0 ${DAY}00:10:00Z`;

/** A service of a directory, which reads the updates of a ledger so far. */
async function serve(text: string, { at = 'data', port = 0, more = [] as readonly string[] } = {}): Promise<Service> {
  const format = text.includes('@registry') ? 'ledger-api' : 'scan';
  const feed = directory.writeLines(`${at}.ndjson`, linesOf(parseLedger(text), format));
  const args = ['--port', String(port), '--data', directory.at(at), '--file', feed, ...more];
  const service = await startService(args);
  await service.until('/readyz', (status) => status === 200);
  return service;
}

const movementsOf = (url: string, options: MovementsOptions) =>
  collect<FollowedMovement>((more) => createClient({ url }).movements({ ...options, ...more }));
const eventsOf = (url: string, options: StreamOptions = {}) =>
  collect<StreamEvent>((more) => createClient({ url }).stream({ ...options, ...more }));

const short = ({ party_id, update_id, change_total }: FollowedMovement): string =>
  `${party_id.split('::')[0]} ${update_id} ${change_total.replace(/\.0+$/, '')}`;

it('movements come once each, over services that are killed and started again', async () => {
  const [port] = (await freePorts(1)) as [number];
  const updates = Array.from(
    { length: 60 },
    (_, i) => `00:${11 + Math.floor(i / 2)}:${i % 2 ? '31' : '01'} =u${i} : +c${i} alice 1`,
  );
  await using followed = movementsOf(`http://127.0.0.1:${port}`, { owners: [ALICE, BOB], lastEventId: BEFORE });
  // There is no service yet.
  await expect.poll(() => followed.connections.at(-1)?.status).toBe(null);
  for (const count of [20, 40, 60]) {
    await using service = await serve(['00:01 =a : +a bob 1', ...updates.slice(0, count)].join('\n'), { port });
    await expect.poll(() => followed.items.length).toBe(count);
    expect(followed.connections.at(-1)).toBeNull();
    service.program.kill('SIGKILL');
    await service.program.ended;
    await expect.poll(() => followed.connections.at(-1)?.isTemporary).toBe(true);
  }
  expect(followed.items.map(short)).toEqual(updates.map((_, i) => `alice u${i} 1`));
  expect(followed.items.every(({ id, lastEventId }) => id === lastEventId)).toBe(true);
});

it('after a reset, movements are read from the time of the last one on, and continue', async () => {
  const [port] = (await freePorts(1)) as [number];
  const url = `http://127.0.0.1:${port}`;
  const common = '00:01 =a : +a alice 1\n00:11 =b : +b alice 2 ; +x bob 1';
  await using followed = movementsOf(url, { owners: [ALICE, BOB], lastEventId: BEFORE });
  {
    await using _ = await serve(`${common}\n00:12 =lost : +c alice 4`, { port });
    await expect.poll(() => followed.items.map(short)).toEqual(['alice b 2', 'bob b 1', 'alice lost 4']);
  }
  const last = followed.items.at(-1)!.id;
  // Its ledger has not what the other one had last, and goes on in another migration.
  const other = `${common}\n00:12 =d : +d bob 8\n00:13 =e : -b\n00:21 =f :
    import m1 : +a alice 1\nimport m1 : +x bob 1\nimport m1 : +d bob 8\n01:01 m1 =g : +g alice 16\n01:11 m1 =h :`;
  const missed = ['alice e -2', 'alice g 16', 'bob d 8'];
  {
    await using _ = await serve(other, { port, at: 'other' });
    await expect.poll(() => followed.items.slice(3).map(short)).toEqual(missed);
  }
  await using _ = await serve(`${other}\n01:12 m1 =i : +i bob 32`, { port, at: 'other' });
  await expect.poll(() => followed.items.slice(6).map(short)).toEqual(['bob i 32']);
  expect(followed.items.slice(3, 6).map(({ lastEventId }) => lastEventId)).toEqual([last, last, last]);
  // Stopped among them, a client is reset again and misses none.
  await using again = movementsOf(url, { owners: [ALICE, BOB], lastEventId: followed.items[4]!.lastEventId });
  await expect.poll(() => again.items.at(-1)?.update_id).toBe('i');
  expect(again.items.slice(0, 3)).toEqual(followed.items.slice(3, 6));
  expect(new Set(again.items.map(({ id }) => id))).toEqual(new Set(followed.items.slice(3).map(({ id }) => id)));
});

const TOKEN = { instrument_admin: partyOf('registry'), instrument_id: "U'S(D)*C!" };

it.each([
  ['the coin', { held: 'alice 5' }],
  ['a token', { held: `alice 5 ${TOKEN.instrument_id}@registry by bob id sav/ings`, instrument: TOKEN }],
])('movements of %s have the same id whether they are streamed or read after a reset', async (_, of) => {
  const { held, instrument }: { held: string; instrument?: typeof TOKEN } = of;
  await using service = await serve(`00:01 =a : +n alice 1\n00:11 =u'(é%) : +t ${held}\n00:12 =v : -t\n00:21 :`);
  const owners = [ALICE];
  await using streamed = movementsOf(service.url, { owners, instrument, lastEventId: BEFORE });
  await expect.poll(() => streamed.items).toHaveLength(2);
  await using missed = movementsOf(service.url, { owners, instrument, lastEventId: `0 ${DAY}00:10:00Z 00000000` });
  await expect.poll(() => missed.items).toHaveLength(2);
  const withoutPosition = ({ lastEventId: _, ...movement }: FollowedMovement) => movement;
  expect(missed.items.map(withoutPosition)).toEqual(streamed.items.map(withoutPosition));
});

it('fails where the service does not have all that was missed, and where an id is none', async () => {
  await (await serve('00:01 =a : +a alice 1\n00:31 =b : +b alice 1'))[Symbol.asyncDispose]();
  {
    using db = { file: new DatabaseFile(directory.at('data/views.db')), [Symbol.dispose]: () => db.file.close() };
    db.file.prepare('UPDATE migration SET movements_since = ?').run(Date.parse(`${DAY}00:15:00Z`) * 1000);
  }
  await using service = await serve('00:01 =a : +a alice 1\n00:31 =b : +b alice 1');
  await using lost = movementsOf(service.url, { owners: [ALICE], lastEventId: BEFORE });
  await expect(lost.ended).rejects.toMatchObject({ name: 'HoldfastError', status: 404, code: 'missing' });
  expect(lost.items).toEqual([]);
  await using wrong = movementsOf(service.url, { owners: [ALICE], lastEventId: 'x' });
  await expect(wrong.ended).rejects.toThrow('lastEventId: given "x", expected the id of an event of Holdfast');
});

it('a thousand owners are followed at once, and more are refused', async () => {
  const names = Array.from({ length: 1_000 }, (_, i) => `owner${i}`);
  const created = names.map((name, i) => `+c${i} ${name} ${i + 1}`).join(' ; ');
  await using service = await serve(`00:01 =a : +a alice 1\n00:11 =b : ${created}`);
  const owners = names.map(partyOf);
  await using followed = movementsOf(service.url, { owners });
  await expect.poll(() => followed.items).toHaveLength(1_000);
  expect(new Set(followed.items.map(({ party_id }) => party_id))).toEqual(new Set(owners));
  await using tooMany = movementsOf(service.url, { owners: [...owners, ALICE] });
  await expect(tooMany.ended).rejects.toMatchObject({ status: 400, message: expect.stringContaining('owners') });
});

it('events come as the service sends them, of snapshots and movements, and stop with the signal or a break', async () => {
  await using service = await serve('00:01 =a : +a alice 1\n00:11 =b : +b alice 2\n00:21 =c :');
  const options = { owners: [ALICE], events: 'movements,snapshots', lastEventId: BEFORE } as const;
  await using followed = eventsOf(service.url, options);
  using raw = await openStream(service.url, { ...options, owners: [ALICE] });
  await raw.until(() => raw.named('snapshot').length === 1);
  const sent = raw.events.map(({ name, id, data }) => ({ event: name, id, data }));
  await expect.poll(() => followed.items).toEqual(sent);
  expect(sent.map(({ event }) => event)).toEqual(['status', 'movement', 'owner', 'snapshot']);
  const openStreams = async (): Promise<string | undefined> => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return /^holdfast_http_streams (\d+)$/m.exec(text)?.[1];
  };
  expect(await openStreams()).toBe('2');
  followed.stop.abort();
  await followed.ended;
  await expect.poll(openStreams).toBe('1');
  for await (const { event } of createClient({ url: service.url }).stream()) {
    expect([event, await openStreams()]).toEqual(['status', '2']);
    break;
  }
  await expect.poll(openStreams).toBe('1');
});

it('nothing comes after the signal, of events or of movements that were missed', async () => {
  await using service = await serve('00:01 =a : +a alice 1\n00:11 =b : +b alice 2\n00:12 =c : +c alice 4\n00:21 =d :');
  for (const lastEventId of [BEFORE, `0 ${DAY}00:10:00Z 00000000`]) {
    const stop = new AbortController();
    const options = { owners: [ALICE], lastEventId, signal: stop.signal };
    const had: string[] = [];
    for await (const movement of createClient({ url: service.url }).movements(options)) {
      had.push(short(movement));
      stop.abort();
    }
    expect(had).toEqual(['alice b 2']);
  }
});

it('a connection on which nothing comes any more is replaced', async () => {
  await using service = await serve('00:01 =a : +a alice 1\n00:11 =b : +b alice 2');
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(Number(new URL(service.url).port), '127.0.0.1');
    sockets.add(client.on('error', () => {})).add(upstream.on('error', () => {}));
    client.pipe(upstream).pipe(client);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const { port } = proxy.address() as { port: number };
  await using followed = eventsOf(`http://127.0.0.1:${port}`, { silenceMaxMs: 1_000, owners: [ALICE] });
  await expect.poll(() => followed.items.some(({ event }) => event === 'snapshot')).toBe(true);
  // As where a network drops what a connection sends.
  for (const socket of sockets) socket.unpipe();
  await expect
    .poll(() => followed.connections.map((error) => error?.message))
    .toContain('Nothing came from Holdfast for 1000 ms.');
  const statuses = followed.items.filter(({ event }) => event === 'status').length;
  await expect.poll(() => followed.items.filter(({ event }) => event === 'status').length).toBeGreaterThan(statuses);
  expect(followed.items.filter(({ event }) => event === 'snapshot')).toHaveLength(1);
  for (const socket of sockets) socket.destroy();
  proxy.close();
});

it('too many streams of one address are waited for, and a wrong request fails at once', async () => {
  await using service = await serve('00:01 =a : +a alice 1\n00:11 =b :');
  using opened = new DisposableStack();
  for (let i = 0; i < 20; i++) opened.use(await openStream(service.url));
  await using waiting = eventsOf(service.url);
  await expect
    .poll(() => waiting.connections[0])
    .toMatchObject({ status: 503, retryAfterMs: 10_000, isTemporary: true });
  await using wrong = eventsOf(service.url, { owners: ['no party'] });
  await expect(wrong.ended).rejects.toMatchObject({ status: 400, code: 'invalid', isTemporary: false });
});
