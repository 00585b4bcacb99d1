import { afterAll, expect, it } from 'vitest';
import { openStream } from '../../support/http/event-stream.ts';
import { startStreaming } from '../../support/http/streaming-service.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../../support/views/replayed.ts';

const MANY_OWNERS = Array.from({ length: 100 }, (_, i) => partyOf(`o${i}`));

/** Updates of an hour in each of which a hundred owners get a coin: with periods of a minute, 59 snapshots. */
function manyChanges(hour: number): readonly string[] {
  return Array.from({ length: 60 }, (_, minute) => {
    const creates = MANY_OWNERS.map((party, i) => `+c${hour}-${minute}-${i} ${party.split('::')[0]} 1`);
    const time = [hour, minute].map((part) => String(part).padStart(2, '0')).join(':');
    return linesOf(parseLedger(`${time}:30 =u${hour}-${minute} : ${creates.join(' ; ')}`), 'scan');
  }).flat();
}

/** 179 snapshots, in each of which a hundred owners change: some seven megabytes of events. */
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
const dataDir = folder.at('data');
const feed = folder.writeLines('feed.ndjson', [0, 1, 2].flatMap(manyChanges));
await replayInto(dataDir, [feed], { snapshotPeriodUs: 60_000_000 });
const [FIRST, LAST] = ['0 2025-02-12T00:01:00Z', '0 2025-02-12T02:59:00Z'];

it('cuts a client that takes nothing, and the others go on to the end', async () => {
  await using service = await startStreaming(dataDir, { takeTimeoutMs: 5_000 });
  const all = { owners: MANY_OWNERS, lastEventId: FIRST };
  using idle = await openStream(service.url, all);
  idle.pause();
  using reading = await openStream(service.url, all);
  await reading.until(() => reading.events.at(-1)?.id?.startsWith(LAST) === true);
  expect(reading.named('snapshot')).toHaveLength(178);
  expect(reading.named('owner')).toHaveLength(178 * 100);
  expect(Buffer.byteLength(reading.text)).toBeGreaterThan(5_000_000);
  await expect.poll(() => service.log.join()).toContain('it takes nothing of what waits for it');
  await expect.poll(() => service.streams.openCount()).toBe(1);
  idle.resume();
  expect(await idle.ended).toBe(false);
  // What it had is all that was held for it; it can resume after the last whole event.
  const { id } = idle.named('snapshot').at(-1)!;
  using resumed = await openStream(service.url, { ...all, lastEventId: id! });
  await resumed.until(() => resumed.events.at(-1)?.id?.startsWith(LAST) === true);
  const sent = [...idle.named('snapshot'), ...resumed.named('snapshot')].map((event) => event.id);
  expect(sent).toEqual(reading.named('snapshot').map((event) => event.id));
});

it('cuts a client for which too much is held, however lately it took some', async () => {
  await using service = await startStreaming(dataDir, { heldBytesMax: 20_000 });
  using idle = await openStream(service.url, { owners: MANY_OWNERS, lastEventId: FIRST });
  idle.pause();
  using other = await openStream(service.url, { lastEventId: FIRST });
  await other.until(() => other.events.at(-1)?.id?.startsWith(LAST) === true);
  await expect.poll(() => service.log.join()).toMatch(/\d{5} bytes wait for it/);
  await expect.poll(() => service.streams.openCount()).toBe(1);
});

it('opens as many streams as may be, in all and of one client, and says when to try again', async () => {
  await using service = await startStreaming(dataDir, { streamsMax: 5, streamsPerAddressMax: 2 });
  const from = (localAddress: string) => openStream(service.url, { localAddress });
  const open = [await from('127.0.0.2'), await from('127.0.0.2')];
  const refused = await from('127.0.0.2');
  expect(refused.status).toBe(503);
  expect(refused.headers).toMatchObject({ 'retry-after': '10', 'content-type': 'application/json' });
  await refused.ended;
  expect(JSON.parse(refused.text)).toEqual({
    error: '2 streams of yours are open, and at most 2 may be',
    code: 'unavailable',
  });
  open.push(await from('127.0.0.3'), await from('127.0.0.3'), await from('127.0.0.4'));
  const full = await from('127.0.0.5');
  await full.ended;
  expect([full.status, JSON.parse(full.text)]).toEqual([
    503,
    { error: '5 streams are open, and no more may be; try again later', code: 'unavailable' },
  ]);
  open[0]![Symbol.dispose]();
  await expect.poll(() => service.streams.openCount()).toBe(4);
  open.push(await from('127.0.0.5'));
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  for (const stream of open) stream[Symbol.dispose]();
  await expect.poll(() => service.streams.openCount()).toBe(0);
});

it("counts the clients of a trusted proxy apart, and believes nobody else's word", async () => {
  await using service = await startStreaming(dataDir, { streamsPerAddressMax: 2, trustedProxies: ['127.0.0.1'] });
  const statusOf = async (client: string, localAddress = '127.0.0.1'): Promise<number> =>
    (await openStream(service.url, { localAddress, headers: { 'x-forwarded-for': client } })).status;
  const clients = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.2'];
  const statuses: number[] = [];
  for (const client of clients) statuses.push(await statusOf(client));
  expect(statuses).toEqual([200, 200, 200, 503, 200]);
  const forged: number[] = [];
  for (const client of ['192.0.2.7', '192.0.2.8', '192.0.2.9']) forged.push(await statusOf(client, '127.0.0.6'));
  expect(forged).toEqual([200, 200, 503]);
});

it('ends all streams at once when the service stops, and opens no other', async () => {
  await using service = await startStreaming(dataDir);
  using stream = await openStream(service.url);
  await stream.until(() => stream.events.length === 2);
  service.streams.end();
  expect(await stream.ended).toBe(true);
  expect(stream.events.at(-1)).toMatchObject({ name: 'status', data: { phase: 'stopping' } });
  const late = await openStream(service.url);
  await late.ended;
  expect([late.status, JSON.parse(late.text)]).toEqual([
    503,
    { error: 'the service is stopping', code: 'unavailable' },
  ]);
});
