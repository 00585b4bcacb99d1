import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fixture, readExpected } from '../support/http/expected-answers.ts';
import { exchange, parseAnswer } from '../support/http/raw-request.ts';
import { type Service, startService } from '../support/http/service.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

/** Memory that the service may use for a flood beyond what it has; one answer or body of each of many connections. */
const GROWTH_BYTES_MAX = 150_000_000;
const CONNECTIONS_MAX = 900;

const folder = temporaryDirectory();
let service: Service;
let port = 0;
beforeAll(async () => {
  service = await startService(['--data', folder.at('data'), '--file', fixture('story.scan.ndjson')]);
  port = Number(new URL(String((await service.program.logged('listening')).url)).port);
  await service.until('/readyz', (status) => status === 200);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function residentBytes(): number {
  const status = readFileSync(`/proc/${service.program.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

async function expectServed(): Promise<void> {
  const { owner_party_ids, snapshots } = readExpected('story');
  const { migration_id, record_time, summary_v1 } = snapshots[0]!;
  const answer = await service.ask('/v1/holdings/summary', { migration_id, record_time, owner_party_ids });
  expect(answer).toEqual({ status: 200, body: summary_v1 });
}

it('keeps a body that comes byte by byte in little more than its size', async () => {
  const before = residentBytes();
  const head =
    'POST /v1/holdings/summary HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
  const answer = exchange(port, `${head}${'1\r\n \r\n'.repeat(600_000)}0\r\n\r\n`);
  await expectServed();
  expect(parseAnswer(await answer)).toMatchObject({
    status: 400,
    body: expect.stringContaining('body: given nothing'),
  });
  expect(residentBytes() - before).toBeLessThan(GROWTH_BYTES_MAX);
});

it('refuses a body without end at the limit, and reads none that no operation has', async () => {
  const before = residentBytes();
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
  const endless = (target: string): string =>
    `POST ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(400)}`;
  for (const [target, status] of [
    ['/v1/holdings/summary', 413],
    ['/v2/users', 413],
    ['/nothing', 404],
  ] as const) {
    const answer = await exchange(port, endless(target));
    // A client that continues to send may lose the answer with its connection.
    if (answer !== '') expect(parseAnswer(answer).status, target).toBe(status);
  }
  await expectServed();
  expect(residentBytes() - before).toBeLessThan(GROWTH_BYTES_MAX);
});

it('serves as many connections as it allows of thousands, closes the others, and serves when they have ended', async () => {
  const before = residentBytes();
  const sockets: Socket[] = [];
  const outcomes = Array.from({ length: 1_800 }, () => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    );
    sockets.push(socket);
    return new Promise<'served' | 'closed'>((resolve) => {
      socket.once('data', () => {
        socket.pause();
        resolve('served');
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve('closed'));
    });
  });
  const served = (await Promise.all(outcomes)).filter((outcome) => outcome === 'served');
  expect(served.length).toBeGreaterThan(CONNECTIONS_MAX / 2);
  expect(served.length).toBeLessThanOrEqual(CONNECTIONS_MAX);
  expect(residentBytes() - before).toBeLessThan(GROWTH_BYTES_MAX);
  for (const socket of sockets) socket.destroy();
  await expect
    .poll(() =>
      service.ask('/livez').then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  await expectServed();
});
