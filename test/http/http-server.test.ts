import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import {
  createAnswerHold,
  createClientAddress,
  type HttpServer,
  SERVER_LIMITS,
  startHttpServer,
} from '../../src/http/http-server.ts';
import { Refusal } from '../../src/refusal.ts';
import { listenHoldings } from '../support/http/holdings-service.ts';
import { LARGE_SNAPSHOT, largeFeed } from '../support/http/large-feed.ts';
import { exchange, parseAnswer, type RawAnswer, rawRequest } from '../support/http/raw-request.ts';
import { freePorts } from '../support/program/free-ports.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const MIB = 2 ** 20;
/** Short times, so that a test need not wait for the usual ones. */
const limits = { ...SERVER_LIMITS, headersTimeoutMs: 300, requestTimeoutMs: 500, timeoutCheckMs: 20 };
const large = Buffer.from(JSON.stringify({ text: 'x'.repeat(16 * MIB) }));
const service = await listenHoldings(
  {
    limits: { ownersMax: 3, bodyBytesMax: 2000 },
    documents: [{ name: 'Large', path: '/large.json', read: async () => large }],
  },
  { limits: { ...limits, silenceTimeoutMs: 1_000, connectionsMax: 20 } },
);
const { port } = service;
afterAll(() => service[Symbol.asyncDispose]());

type Fetch = Parameters<typeof startHttpServer>[0]['fetch'];
const start = (host: string, port = 0, fetch: Fetch = () => new Response('{}')): Promise<HttpServer> =>
  startHttpServer({ fetch, host, port, logger: pino({ level: 'silent' }) });
const portOf = ({ url }: HttpServer): number => Number(new URL(url).port);
const ask = async (target: string, headers: readonly string[] = [], body = ''): Promise<RawAnswer> => {
  const method = body === '' ? 'GET' : 'POST';
  return parseAnswer(await exchange(port, rawRequest({ method, target, headers, body })));
};

async function open(to = port, from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: to, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** All that comes until the other side closes. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (part) => {
    text += part;
  });
  if (!socket.closed) await once(socket, 'close');
  return text;
}

async function expectServed(): Promise<void> {
  expect((await ask('/livez')).status).toBe(200);
  expect(service.log).toEqual([]);
}

test('a Host may be any name at another address than a loopback one', async () => {
  await using open = await start('0.0.0.0');
  const request = rawRequest({ method: 'GET', target: '/', headers: ['Host: evil.example'], body: '' });
  expect(parseAnswer(await exchange(portOf(open), request)).status).toBe(200);
});

test('connections above the limit are closed at once, and accepted when others have ended', async () => {
  const others = await Promise.all(Array.from({ length: 20 }, () => open()));
  expect(await exchange(port, 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')).toBe('');
  for (const socket of others) socket.destroy();
  await expect.poll(() => service.connections()).toBe(0);
  await expectServed();
});

describe.concurrent('slow clients', () => {
  const BODY = 'POST /v1/holdings/summary HTTP/1.1\r\nHost: localhost\r\n';
  test.each([
    ['says nothing', ''],
    ['stops within its headers', 'GET /livez HTTP/1.1\r\nHost: loc'],
    ['stops within its body', `${BODY}Content-Length: 9\r\n\r\n{`],
  ])('one that %s is cut off, and reads why', async (_, sent) => {
    const socket = await open();
    socket.write(sent);
    expect(await untilClosed(socket)).toContain('HTTP/1.1 408 ');
    await expectServed();
  });

  test('one that sends a byte now and then is cut off all the same', async () => {
    const socket = await open();
    const closed = untilClosed(socket);
    socket.write(`${BODY}Transfer-Encoding: chunked\r\n\r\n`);
    const dribble = setInterval(() => socket.write('1\r\n \r\n'), 20);
    expect(await closed).toContain('HTTP/1.1 408 ');
    clearInterval(dribble);
    await expectServed();
  });

  test('one that does not read its answer is closed', async () => {
    const socket = await open();
    socket.pause();
    socket.write('GET /large.json HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect.poll(() => service.connections()).toBeGreaterThan(0);
    await expect.poll(() => service.connections()).toBe(0);
    const closed = untilClosed(socket);
    socket.resume();
    expect((await closed).length).toBeLessThan(large.length);
    await expectServed();
  });

  test('one that goes away in the middle of its body is no failure of ours', async () => {
    const socket = await open();
    socket.write(`${BODY}Content-Length: 100\r\n\r\n{"migr`, () => socket.destroy());
    await once(socket, 'close');
    await expectServed();
  });
});

test('large answers that are being written are bounded, and no others', async () => {
  using folder = temporaryDirectory();
  const feed = folder.writeLines('feed.ndjson', largeFeed({ contracts: 5, textChars: 3 * MIB }));
  await using bounded = await listenHoldings({ answersBytesMax: 40 * MIB }, { feed });
  const body = JSON.stringify({ ...LARGE_SNAPSHOT, page_size: 5 });
  const page = `POST /v1/holdings/state HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const sockets: Socket[] = [];
  const statusOf = async (request: string): Promise<number> => {
    const socket = await open(bounded.port);
    sockets.push(socket);
    socket.write(request);
    const [part] = await once(socket, 'data');
    // No more is read than the sockets' buffers hold.
    socket.pause();
    return Number(/^HTTP\/1\.1 (\d{3}) /.exec(String(part))?.[1]);
  };
  const statuses = await Promise.all(Array.from({ length: 4 }, () => statusOf(page)));
  // Of 15 MiB each, the third is above 40 MiB.
  expect(statuses.sort()).toEqual([200, 200, 503, 503]);
  expect(await statusOf(page.replaceAll('state', 'summary'))).toBe(200);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => bounded.connections()).toBe(0);
  expect(await statusOf(page)).toBe(200);
  for (const socket of sockets) socket.destroy();
  expect(bounded.log).toEqual([]);
});

test('an answer whose client has left is not counted, nor one behind another answer of its connection', async () => {
  const { hold, bytes } = createAnswerHold(MIB);
  const left = Promise.withResolvers<void>();
  const held: string[] = [];
  await using server = await start('127.0.0.1', 0, async ({ url }, env) => {
    if (url.endsWith('/1')) await left.promise;
    hold({ env } as never, 'text');
    held.push(url);
    return new Response('text');
  });
  const socket = await open(portOf(server));
  socket.write([1, 2].map((target) => `GET /${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
  await expect.poll(() => held.length).toBe(1);
  expect(bytes()).toBe(4);
  socket.destroy();
  await expect.poll(() => server.connections()).toBe(0);
  left.resolve();
  await expect.poll(() => held.length).toBe(2);
  expect(bytes()).toBe(0);
});

describe('starting and stopping', () => {
  test('a port that is taken is refused by name', async () => {
    await expect(start('127.0.0.1', port)).rejects.toThrow(Refusal);
    await expect(start('127.0.0.1', port)).rejects.toThrow(`--port ${port}`);
  });

  test('stopping ends idle connections and accepts no more', async () => {
    const [free] = await freePorts(1);
    const stopped = await start('127.0.0.1', free);
    expect((await fetch(stopped.url)).status).toBe(200);
    await stopped[Symbol.asyncDispose]();
    await expect(fetch(stopped.url)).rejects.toThrow();
  });
});

test.each([
  ['192.0.2.7', undefined, '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2::/64'],
  ['2001:db8::1', undefined, '2001:db8:0:0::/64'],
  ['::1', undefined, '0:0:0:0::/64'],
  ['fe80::1:2:3:4%eth0', undefined, 'fe80:0:0:0::/64'],
  ['192.0.2.7', '198.51.100.1', '192.0.2.7'],
  ['10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
  ['10.0.0.1', '203.0.113.9, 198.51.100.1', '198.51.100.1'],
  ['fd00::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['10.0.0.1', '2001:DB8:1:2::1, ::ffff:10.0.0.1', '2001:db8:1:2::/64'],
])('the client of a request from %s, forwarded for %s: %s', (remoteAddress, forwarded, client) => {
  const header = (name: string): string | undefined => (name === 'x-forwarded-for' ? forwarded : undefined);
  const context = { env: { incoming: { socket: { remoteAddress } } }, req: { header } };
  expect(createClientAddress(['10.0.0.1', 'fd00::1', '::ffff:10.0.0.2'])(context as never)).toBe(client);
});
