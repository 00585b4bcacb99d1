import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from 'vitest';
import { fixture, readExpected } from '../support/http/expected-answers.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
const main = new URL('../../dist/main.js', import.meta.url).pathname;
const { HOLDFAST_DATA: _, ...env } = process.env;

function start(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [main, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** The line of the log with this message, once it is written. */
async function logLine(child: ChildProcess, message: string): Promise<Record<string, unknown>> {
  for await (const line of createInterface({ input: child.stderr! })) {
    if (!line.startsWith('{')) throw new Error(line);
    const entry = JSON.parse(line);
    if (entry.msg === message) {
      child.stderr!.resume();
      return entry;
    }
  }
  throw new Error(`the process ended without saying "${message}"`);
}

async function ended(child: ChildProcess): Promise<{ code: number; stdout: string; stderr: string }> {
  const parts: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]!.setEncoding('utf8').on('data', (part: string) => {
      parts[name] += part;
    });
  const [code] = await once(child, 'close');
  return { code, ...parts };
}

describe('serve', () => {
  test('listens, ingests, answers, refuses a second writer, and stops at SIGTERM with 0', async () => {
    const data = folder.at('served');
    const feed = fixture('story.scan.ndjson');
    const child = start('serve', '--data', data, '--port', '0', '--file', feed);
    const exit = once(child, 'exit');
    const { url } = await logLine(child, 'listening');
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 20_000 }).toBe(200);

    const { snapshots, owner_party_ids } = readExpected('story');
    const { migration_id, record_time, summary_v1 } = snapshots[0]!;
    const answer = await fetch(`${url}/api/scan/v1/holdings/summary`, {
      method: 'POST',
      body: JSON.stringify({ migration_id, record_time, owner_party_ids }),
      headers: { 'content-type': 'application/json' },
    });
    expect(await answer.json()).toEqual(summary_v1);
    for (const path of ['/docs', '/openapi/holdings.json', '/metrics', '/status', '/v2/version'])
      expect((await fetch(url + path)).status, path).toBe(200);

    const second = await ended(start('serve', '--data', data, '--port', '0'));
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(new RegExp(`^holdfast: .*${child.pid}.*\\n$`));

    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  });

  test('refuses a port that is taken, in one line', async () => {
    const first = start('serve', '--data', folder.at('first'), '--port', '0');
    const { url } = await logLine(first, 'listening');
    const second = await ended(
      start('serve', '--data', folder.at('second'), '--port', new URL(String(url)).port, '--log-level', 'silent'),
    );
    first.kill('SIGINT');
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(/^holdfast: cannot listen on --host 127\.0\.0\.1 --port \d+: .*EADDRINUSE.*\n$/);
  });

  test('reads its settings from the environment', async () => {
    const child = spawn(process.execPath, [main, 'serve'], {
      env: { ...env, HOLDFAST_DATA: folder.at('environment'), HOLDFAST_PORT: '0', HOLDFAST_SERVICE_PORT: '80' },
    });
    const exit = once(child, 'exit');
    const { url } = await logLine(child, 'listening');
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    child.kill('SIGINT');
    expect(await exit).toEqual([0, null]);
  });
});

describe('a process', () => {
  test('replays from standard input', async () => {
    const child = start('replay', '--data', folder.at('piped'), '-');
    createReadStream(fixture('story.scan.ndjson')).pipe(child.stdin!);
    const { code, stdout } = await ended(child);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^applied 14 updates, /);
  });

  test('whose reader goes away ends without a word', async () => {
    const child = start('openapi', 'holdings');
    child.stdout!.destroy();
    let stderr = '';
    child.stderr!.setEncoding('utf8').on('data', (part: string) => {
      stderr += part;
    });
    const [code] = await once(child, 'close');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
