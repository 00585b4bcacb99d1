import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { openStream } from '../../../src/feed/ledger-api/participant-stream.ts';

const BYTES = 65_536;
const ELEMENTS = 2_000;

let server: WebSocketServer;
let url: string;
beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong: false, handleProtocols: () => 'daml.ws.auth' });
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  for (const client of server.clients) client.terminate();
  server.close();
});

const open = (more: object = {}) => {
  const { signal } = new AbortController();
  return openStream(url, { ca: null, headers: {}, request: {}, signal, ...more });
};

it('is read no faster than its elements are taken, and brings all of them in order', async () => {
  let sent = 0;
  server.on('connection', (client: WebSocket) => {
    client.once('message', async () => {
      for (; sent < ELEMENTS && client.readyState === client.OPEN; sent++)
        await new Promise<void>((resolve) => client.send(String(sent).padEnd(BYTES), () => resolve()));
      client.close(1000);
    });
  });
  const stream = open();
  const first = await stream.next();
  // It stands still once the queue and the buffers of the sockets are full.
  let before = -1;
  while (sent !== before) {
    before = sent;
    await sleep(300);
  }
  expect(sent).toBeLessThan(ELEMENTS / 2);
  const taken = [...(first.value as Buffer[])];
  for await (const batch of stream) taken.push(...batch);
  expect(taken.map((bytes) => Number(bytes.toString()))).toEqual(Array.from({ length: ELEMENTS }, (_, i) => i));
});

it('that is silent and answers no ping is given up', async () => {
  await expect(open({ pingMs: 20 }).next()).rejects.toThrow(/has not answered 3 pings$/);
});

it('whose element is longer than the bound is not read on', async () => {
  server.on('connection', (client: WebSocket) => client.once('message', () => client.send('x'.repeat(5_000))));
  const failure = await open({ messageBytesMax: 1_000 })
    .next()
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({
    about: { conduct: 'stop' },
    message: expect.stringMatching(/of more than 1000 bytes/),
  });
});

it('that is refused with a body that drips in and never ends is given up, with the status', async () => {
  await using refusing = createServer();
  refusing.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\n\r\n');
    const dripping = setInterval(() => socket.write('x'), 20);
    socket.on('close', () => clearInterval(dripping));
    socket.on('error', () => {});
  });
  refusing.listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  const refusedAt = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  const failure = await openStream(refusedAt, { ca: null, headers: {}, request: {}, signal, refusalTimeoutMs: 300 })
    .next()
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ about: { status: 403, conduct: 'stop' } });
});
