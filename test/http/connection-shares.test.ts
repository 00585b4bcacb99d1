import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SERVER_LIMITS } from '../../src/http/server/limits.ts';
import { type ListeningHoldings, listenHoldings } from '../support/http/holdings-service.ts';

const limits = { ...SERVER_LIMITS, connectionsMax: 20, connectionsPerAddressMax: 8 };
const PROXY = '127.0.0.9';

let service: ListeningHoldings;
beforeEach(async () => {
  service = await listenHoldings({}, { limits, trustedProxies: [PROXY] });
});
const opened: Socket[] = [];
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await service[Symbol.asyncDispose]();
});

const LIVE = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';
const UNFINISHED = 'POST /v1/holdings/summary HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{';

async function open(from: string): Promise<Socket> {
  const socket = connect({ port: service.port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => {});
  opened.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** What comes back for a request, empty where the connection is closed in place of an answer. */
async function answerOn(socket: Socket): Promise<string> {
  if (socket.closed) return '';
  const { promise, resolve } = Promise.withResolvers<string>();
  const closed = (): void => resolve('');
  socket.once('data', (part) => resolve(String(part))).once('close', closed);
  socket.write(LIVE);
  const answer = await promise;
  socket.off('close', closed);
  return answer;
}

/** Connections that were answered once each and stay open, in the order in which they were. */
async function idle(count: number, from: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = await open(from);
    expect(await answerOn(socket)).toContain('HTTP/1.1 200 ');
    sockets.push(socket);
  }
  return sockets;
}

/** Connections on which a request has begun: its body is not sent to the end. */
async function busy(count: number, from: string): Promise<Socket[]> {
  const sockets = await idle(count, from);
  const before = service.connections.count().busy;
  for (const socket of sockets) socket.write(UNFINISHED);
  // So that the server has read all of them.
  await expect.poll(() => service.connections.count().busy).toBe(before + count);
  return sockets;
}

/** Which of them are still served; the others must have been closed. */
async function served(sockets: readonly Socket[]): Promise<boolean[]> {
  const answers = await Promise.all(sockets.map(answerOn));
  return answers.map((answer) => answer.startsWith('HTTP/1.1 200 '));
}

const times = (count: number, value: boolean): boolean[] => Array<boolean>(count).fill(value);
const warnings = (): unknown[] => service.serverLog.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);

describe('the share of an address', () => {
  test('is kept by closing its connections that were idle longest, and no other address is affected', async () => {
    const others = await idle(2, '127.0.0.2');
    const greedy = await idle(30, '127.0.0.1');
    expect(await served(greedy)).toEqual([...times(22, false), ...times(8, true)]);
    expect(await served(others)).toEqual([true, true]);
    expect(await served(await idle(5, '127.0.0.3'))).toEqual(times(5, true));
    expect(warnings()).toMatchObject([{ address: '127.0.0.1', connectionsPerAddressMax: 8 }]);
  });

  test('counts from the last use: one that is used again stays', async () => {
    const [first, second, ...rest] = await idle(8, '127.0.0.1');
    expect(await served([first!])).toEqual([true]);
    await idle(1, '127.0.0.1');
    expect(await served([second!])).toEqual([false]);
    expect(await served([first!, ...rest])).toEqual(times(7, true));
  });

  test('is kept by closing the new one where all are busy', async () => {
    const held = await busy(8, '127.0.0.1');
    const above = await Promise.all(Array.from({ length: 30 }, () => open('127.0.0.1')));
    expect(await served(above)).toEqual(times(30, false));
    expect(held.map((socket) => socket.destroyed)).toEqual(times(8, false));
    expect(await served(await idle(8, '127.0.0.2'))).toEqual(times(8, true));
    expect(warnings()).toMatchObject([{ address: '127.0.0.1', connectionsPerAddressMax: 8 }]);
  });

  test('is given back with each connection that ends', async () => {
    for (let i = 0; i < 5; i++) {
      const held = await busy(8, '127.0.0.1');
      for (const socket of held) socket.destroy();
      await expect.poll(() => service.connections.count()).toEqual({ busy: 0, idle: 0 });
    }
    expect(await served(await idle(8, '127.0.0.1'))).toEqual(times(8, true));
    expect(warnings()).toEqual([]);
  });

  test('is none for a trusted proxy', async () => {
    expect(await served(await idle(20, PROXY))).toEqual(times(20, true));
    expect(warnings()).toEqual([]);
  });
});

describe('all connections that are allowed', () => {
  test('make room by closing the one that was idle longest, whosever it is', async () => {
    const held = [...(await idle(6, '127.0.0.1')), ...(await idle(6, '127.0.0.2')), ...(await idle(8, '127.0.0.3'))];
    const others = await idle(3, '127.0.0.4');
    expect(await served(others)).toEqual(times(3, true));
    expect(await served(held)).toEqual([...times(3, false), ...times(17, true)]);
    expect(warnings()).toMatchObject([{ connectionsMax: 20 }]);
  });

  test('are left alone where all are busy: a new one is closed at once, which is said once', async () => {
    const held = await busy(7, '127.0.0.1');
    held.push(...(await busy(7, '127.0.0.2')), ...(await busy(6, PROXY)));
    const above = await Promise.all(Array.from({ length: 50 }, (_, i) => open(`127.0.1.${i + 1}`)));
    expect(await served(above)).toEqual(times(50, false));
    expect(warnings()).toMatchObject([{ connectionsMax: 20 }]);
    expect(held.map((socket) => socket.destroyed)).toEqual(times(20, false));
    for (const socket of held) socket.write(' '.repeat(8));
    for (const socket of held) expect(String((await once(socket, 'data'))[0])).toContain('HTTP/1.1 400 ');
    expect(await served(await idle(1, '127.0.2.1'))).toEqual([true]);
  });
});
