import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { SERVER_LIMITS } from '../../src/http/server/limits.ts';
import { listenHoldings } from '../support/http/holdings-service.ts';
import { LARGE_SNAPSHOT, largeFeed } from '../support/http/large-feed.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const MIB = 2 ** 20;
/** More than the sockets' own buffers hold, on either side. */
const ANSWER_BYTES = 16 * MIB;
const limits = { ...SERVER_LIMITS, waitingBytesMax: 40 * MIB, waitingBytesPerAddressMax: 20 * MIB };
const PROXY = '127.0.0.9';

const opened: Socket[] = [];
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});

/** Sends a request, waits for the first bytes of the answer, and reads no more of it than the sockets' buffers hold. */
async function askAndWait(port: number, from: string, request: string): Promise<Socket & { begun: string }> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => {});
  opened.push(socket);
  socket.write(request);
  const [part] = await once(socket, 'data');
  socket.pause();
  return Object.assign(socket, { begun: String(part) });
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = (path: string, body: object): string => {
  const text = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
};

const statusOf = async (asked: ReturnType<typeof askAndWait>): Promise<number> =>
  Number(/^HTTP\/1\.1 (\d{3}) /.exec((await asked).begun)?.[1]);

describe('answers that wait for slow clients', () => {
  const large = Buffer.from(JSON.stringify({ text: 'x'.repeat(ANSWER_BYTES) }));
  const documents = [{ name: 'Large', path: '/large.json', read: async () => large }];
  const query = { migration_id: 0, record_time: '2025-02-12T00:10:00Z', owner_party_ids: ['alice::1220ab'] };
  const state = post('/v1/holdings/state', { ...query, page_size: 10 });
  const stateV0 = post('/api/scan/v0/holdings/state', { ...query, page_size: 10 });
  const summary = post('/v1/holdings/summary', query);

  test('prevent new pages beyond a limit, in all and for one address, and nothing else', async () => {
    await using service = await listenHoldings({ documents }, { limits, trustedProxies: [PROXY] });
    const ask = (from: string, request: string): Promise<number> => statusOf(askAndWait(service.port, from, request));
    const wait = (from: string): ReturnType<typeof askAndWait> => askAndWait(service.port, from, get('/large.json'));

    await wait('127.0.0.1');
    expect(await ask('127.0.0.1', state)).toBe(200);
    await wait('127.0.0.1');
    const { begun: own } = await askAndWait(service.port, '127.0.0.1', state);
    expect(own).toMatch(
      /^HTTP\/1\.1 503 .*\{"error":"\d+ bytes of answers are not read by you yet, and at most \d+ may/s,
    );
    expect(await ask('127.0.0.1', stateV0)).toBe(503);
    expect(await ask('127.0.0.1', summary)).toBe(200);
    expect(await ask('127.0.0.2', state)).toBe(200);

    await wait('127.0.0.2');
    const { begun: all } = await askAndWait(service.port, '127.0.0.3', state);
    expect(all).toMatch(/^HTTP\/1\.1 503 .*\{"error":"\d+ bytes of answers are not read by slow clients yet/s);
    for (const request of [stateV0, state]) expect(await ask(PROXY, request)).toBe(503);
    for (const request of [summary, get('/livez'), get('/large.json')]) {
      expect(await ask('127.0.0.3', request)).toBe(200);
    }

    const { begun: metrics } = await askAndWait(service.port, '127.0.0.4', get('/metrics'));
    expect(Number(/^holdfast_http_answers_waiting_bytes (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(3 * ANSWER_BYTES);
    const connections = [...metrics.matchAll(/^holdfast_http_connections\{state="\w+"\} (\d+)$/gm)];
    expect(connections.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(opened.length);

    for (const socket of opened) socket.destroy();
    await expect.poll(() => service.connections.count()).toEqual({ busy: 0, idle: 0 });
    for (const from of ['127.0.0.1', '127.0.0.2', '127.0.0.3']) expect(await ask(from, state)).toBe(200);
    expect(service.log).toEqual([]);
  });

  test('of a trusted proxy are of many clients, and count in all only', async () => {
    await using service = await listenHoldings({ documents }, { limits, trustedProxies: [PROXY] });
    const ask = (from: string, request: string): Promise<number> => statusOf(askAndWait(service.port, from, request));
    for (let i = 0; i < 2; i++) await askAndWait(service.port, PROXY, get('/large.json'));
    expect(await ask(PROXY, state)).toBe(200);
    await askAndWait(service.port, PROXY, get('/large.json'));
    expect(await ask(PROXY, state)).toBe(503);
  });
});

test('pages that are requested all at once are bounded like those requested one by one', async () => {
  using folder = temporaryDirectory();
  const feed = folder.writeLines('feed.ndjson', largeFeed({ contracts: 5, textChars: 3 * MIB }));
  await using service = await listenHoldings({}, { limits, feed });
  const page = post('/v1/holdings/state', { ...LARGE_SNAPSHOT, page_size: 5 });
  const asked = Array.from({ length: 12 }, (_, i) => askAndWait(service.port, `127.0.1.${i + 1}`, page));
  const statuses = (await Promise.all(asked.map(statusOf))).sort();
  // Of 15 MiB each, the third is the one that is past 40 MiB.
  expect(statuses).toEqual([200, 200, 200, ...Array<number>(9).fill(503)]);
});
