import { connect } from 'node:net';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { type HttpServer, startHttpServer } from '../../src/http/server/server.ts';
import { Refusal } from '../../src/refusal.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings } from '../support/http/holdings-service.ts';
import { freePorts } from '../support/program/free-ports.ts';

const service = openHoldings(await makeDataDirectory([fixture('story.scan.ndjson')]), {
  limits: { ownersMax: 3, bodyBytesMax: 2000 },
});
const logger = pino({ level: 'silent' });
const start = (host: string, port = 0): Promise<HttpServer> =>
  startHttpServer({ fetch: service.app.fetch, host, port, logger });
const server = await start('127.0.0.1');
const port = Number(new URL(server.url).port);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  service[Symbol.dispose]();
});

/** Sends bytes as they are and returns all that comes back until the connection ends. */
function send(text: string, to = port): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(to, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (part) => {
      answer += part;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    socket.write(text);
  });
}

const head = (lines: readonly string[]): string => `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`;
const get = (path: string, ...headers: string[]): string =>
  head([`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers]);

describe('Host on a loopback address', () => {
  test.each(['localhost', 'LOCALHOST:8080', '127.0.0.1:1', '[::1]', '[::1]:8080', '10.1.2.3'])(
    '%s may ask',
    async (host) => {
      expect(await send(head(['GET /livez HTTP/1.1', `Host: ${host}`]))).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', '[::1].example'])(
    '%s may not: it may be a page that had its name resolved to us',
    async (host) => {
      const answer = await send(head(['GET /livez HTTP/1.1', `Host: ${host}`]));
      expect(answer).toMatch(/^HTTP\/1\.1 (403|400) /);
      expect(answer).toContain('{"error":"');
    },
  );

  test('another address accepts any name', async () => {
    await using open = await start('0.0.0.0');
    const answer = await send(head(['GET /livez HTTP/1.1', 'Host: evil.example']), Number(new URL(open.url).port));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('limits', () => {
  test('a header line of 64 KiB is accepted, headers of more than 80 KiB are not', async () => {
    expect(await send(get('/livez', `Authorization: Bearer ${'x'.repeat(65_500)}`))).toMatch(/^HTTP\/1\.1 200 /);
    const answer = await send(get('/livez', `Authorization: Bearer ${'x'.repeat(90_000)}`));
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('{"error":"headers larger than 81920 bytes, or too many of them"}');
  });

  const post = ['POST /v1/holdings/summary HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
  const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;

  test('a body above the limit is refused by its Content-Length, before it is sent', async () => {
    const answer = await send(head([...post, 'Content-Length: 100000000']));
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/connection: close/i);
    expect(answer).toContain('{"error":"body: larger than 2000 bytes"}');
  });

  test('a body without Content-Length is counted as it comes', async () => {
    const open = `${[...post, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`;
    expect(await send(open + chunk(1500) + chunk(1500))).toMatch(/^HTTP\/1\.1 413 /);
    const small = await send(`${head([...post, 'Transfer-Encoding: chunked'])}${chunk(15)}0\r\n\r\n`);
    expect(small).toMatch(/^HTTP\/1\.1 400 /);
    expect(small).toContain('malformed JSON');
  });

  test('what is no HTTP is answered in JSON all the same', async () => {
    const answer = await send('nonsense\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('{"error":"malformed HTTP request"}');
  });

  test('a request target that is no path is a 400', async () => {
    const answer = await send(head(['GET \\evil HTTP/1.1', 'Host: localhost']));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('{"error":"');
  });
});

describe('over a connection', () => {
  test('HEAD has the headers of GET and no body', async () => {
    const answer = await send(head(['HEAD /v0/migrations/last HTTP/1.1', 'Host: localhost']));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer.endsWith('\r\n\r\n')).toBe(true);
  });

  test('a client that goes away in the middle of its body is no failure of ours', async () => {
    const logged = service.log.length;
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write('POST /v1/holdings/summary HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"migr');
        setTimeout(() => socket.destroy(), 50);
      });
      socket.on('close', () => setTimeout(resolve, 50));
    });
    expect(service.log.slice(logged)).toEqual([]);
    expect(await send(get('/livez'))).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('starting and stopping', () => {
  test('a port that is taken is refused by name', async () => {
    await expect(start('127.0.0.1', port)).rejects.toThrow(Refusal);
    await expect(start('127.0.0.1', port)).rejects.toThrow(`--port ${port}`);
  });

  test('stopping ends idle connections and accepts no more', async () => {
    const [free] = await freePorts(1);
    const stopped = await start('127.0.0.1', free);
    const idle = await fetch(`${stopped.url}/livez`);
    expect(idle.status).toBe(200);
    await stopped[Symbol.asyncDispose]();
    await expect(fetch(`${stopped.url}/livez`)).rejects.toThrow();
  });
});
