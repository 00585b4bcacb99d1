import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { SERVER_LIMITS } from '../../src/http/server/limits.ts';
import { readExpected } from '../support/http/expected-answers.ts';
import { listenHoldings } from '../support/http/holdings-service.ts';
import { exchange, parseAnswer, rawRequest } from '../support/http/raw-request.ts';

/** Short times, so that a test need not wait for the usual ones. */
const limits = {
  ...SERVER_LIMITS,
  headersTimeoutMs: 1_000,
  requestTimeoutMs: 1_500,
  timeoutCheckMs: 50,
  silenceTimeoutMs: 2_000,
};
const large = Buffer.from(JSON.stringify({ text: 'x'.repeat(4_000_000) }));
const service = await listenHoldings(
  { documents: [{ name: 'Large', path: '/large.json', read: async () => large }] },
  { limits },
);
const { port } = service;
afterAll(() => service[Symbol.asyncDispose]());

const { owner_party_ids, snapshots } = readExpected('story');
const { migration_id, record_time } = snapshots[0]!;
const state = JSON.stringify({ migration_id, record_time, owner_party_ids, page_size: 100 });
const STATE = `POST /v1/holdings/state HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${state.length}\r\n\r\n${state}`;

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

/** All that comes until the other side closes. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (part) => {
    text += part;
  });
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

async function expectServed(): Promise<void> {
  const live = rawRequest({ method: 'GET', target: '/livez', headers: [], body: '' });
  expect(parseAnswer(await exchange(port, live)).status).toBe(200);
  expect(service.log).toEqual([]);
}

describe.concurrent('slow clients', () => {
  test.each([
    ['says nothing', '', '408'],
    ['stops within its headers', 'GET /livez HTTP/1.1\r\nHost: loc', '408'],
    [
      'stops within its body',
      'POST /v1/holdings/summary HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{',
      '408',
    ],
  ])('one that %s is cut off, and reads why', async (_, sent, status) => {
    const socket = await open();
    socket.write(sent);
    expect(await untilClosed(socket)).toContain(`HTTP/1.1 ${status} `);
    await expectServed();
  });

  test('one that sends a byte now and then is cut off all the same', async () => {
    const socket = await open();
    const closed = untilClosed(socket);
    socket.write('POST /v1/holdings/summary HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
    const dribble = setInterval(() => socket.write('1\r\n \r\n'), 20);
    expect(await closed).toContain('HTTP/1.1 408 ');
    clearInterval(dribble);
    await expectServed();
  });

  test('one that does not read its answers is closed, and no more is created for it than it reads', async () => {
    const asked = 90;
    const socket = await open();
    socket.pause();
    socket.write('GET /large.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(asked));
    const before = process.memoryUsage().rss;
    // That takes the time twice, because what went out within the first is found out then only.
    await expect.poll(() => service.connections.waitingBytes()).toBeGreaterThan(0);
    await expect.poll(() => service.connections.waitingBytes()).toBe(0);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
    const closed = untilClosed(socket);
    socket.resume();
    const text = await closed;
    expect(text.split('HTTP/1.1 200 OK').length - 1).toBeLessThan(asked / 4);
    await expectServed();
  });
});

describe('many requests on one connection', () => {
  test('are cut off with it where hundreds are sent ahead of their answers', async () => {
    const socket = await open();
    const closed = untilClosed(socket);
    socket.write(STATE.repeat(150));
    expect((await closed).split('HTTP/1.1 ').length - 1).toBeLessThan(150);
    await expectServed();
  });

  test('are answered in their order, those of reader threads among them', async () => {
    const socket = await open();
    const paths = Array.from({ length: 80 }, (_, i) => `/path-${i}`);
    const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    socket.write(paths.map((path, i) => (i % 8 === 0 ? STATE : '') + get(path)).join(''));
    socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const text = await untilClosed(socket);
    const found = [...text.matchAll(/no such path: (\/path-\d+)/g)].map(([, path]) => path);
    expect(found).toEqual(paths);
    expect(text.match(/"created_events":/g)).toHaveLength(10);
  });

  test('are of no harm to others where their client goes away', async () => {
    for (let i = 0; i < 10; i++) {
      const socket = await open();
      socket.write(STATE.repeat(50));
      await sleep(i * 5);
      socket.destroy();
    }
    const answer = parseAnswer(await exchange(port, STATE.replace('\r\n', '\r\nConnection: close\r\n')));
    expect(answer.status).toBe(200);
    await expectServed();
  });
});
