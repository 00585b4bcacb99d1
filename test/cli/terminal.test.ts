import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it, test } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { withAge } from '../../src/cli/status.ts';
import { logLineText } from '../../src/cli/terminal.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { makeDataDirectory } from '../support/http/holdings-service.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

/** What `holdfast serve` on port 0 writes to standard error before it is stopped, which it is once it has written `until`. */
async function served(until: string, { isTTY }: { isTTY: boolean }, ...args: readonly string[]): Promise<string> {
  const stop = new AbortController();
  const stderr = Object.assign(new PassThrough(), { isTTY });
  let said = '';
  stderr.on('data', (part: Buffer) => {
    said += part.toString();
    if (said.includes(until)) stop.abort('SIGTERM');
  });
  const stdout = new PassThrough();
  const code = await runCommandLine(['serve', '--port', '0', ...args], {
    env: {},
    stdout,
    stderr,
    stopSignal: () => stop.signal,
  });
  stdout.end();
  expect({ code, stdout: await text(stdout) }).toEqual({ code: 0, stdout: '' });
  return said;
}

describe('holdfast serve on a terminal', () => {
  it('says in five lines where it is, and then logs for people', async () => {
    const said = await served('DSO', { isTTY: true }, '--data', folder.at('empty'));
    const lines = said.split('\n');
    const first = lines.findIndex((line) => line.startsWith('Dashboard'));
    expect(lines.slice(first, first + 5)).toEqual([
      expect.stringMatching(/^Dashboard {2}http:\/\/127\.0\.0\.1:\d+\/$/),
      expect.stringMatching(/^API {8}http:\/\/127\.0\.0\.1:\d+\/docs$/),
      `Data       ${folder.at('empty')}`,
      'Source     none: stored data only; give one with --scan, --ledger-api, --kafka-brokers or --file',
      'DSO        not known yet: the first one seen counts; pin yours with --dso',
    ]);
    expect(lines.filter((line) => line.startsWith('{'))).toEqual([]);
    expect(said).toMatch(/^\d\d:\d\d:\d\d listening {2}url=http/m);
    expect(said).toMatch(/^\d\d:\d\d:\d\d stopping/m);
  });

  it('logs JSON where that is asked for, or where there is no terminal', async () => {
    const asked = await served('no source', { isTTY: true }, '--data', folder.at('asked'), '--log-format', 'json');
    const piped = await served('no source', { isTTY: false }, '--data', folder.at('piped'));
    for (const said of [asked, piped])
      for (const line of said.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
  });
});

test('a log line for people has the time, the level, the message and the other fields', () => {
  const line = {
    level: 40,
    time: '2026-10-01T12:00:01.250Z',
    pid: 1,
    hostname: 'h',
    count: 2,
    msg: 'it\u001b[2J waits',
  };
  expect(logLineText(JSON.stringify(line))).toBe('12:00:01 warn it\\u{1b}[2J waits  count=2\n');
  const failed = {
    level: 50,
    time: '2026-10-01T12:00:01.250Z',
    msg: 'failed',
    err: { message: 'disk full', stack: 's' },
  };
  expect(logLineText(JSON.stringify(failed))).toBe('12:00:01 error failed: disk full\n');
});

describe('the help', () => {
  it('of holdfast alone is its commands in groups', async () => {
    const { code, stdout, stderr } = await holdfast();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const headings = stdout.match(/^\w.*:$/gm)!;
    expect(headings).toEqual(['Options:', 'Run:', 'Ask:', 'Check and mend:', 'Connect:', 'Example:']);
    expect(stdout).toMatch(/^ {2}serve {2}/m);
  });

  it('of a command says what holds for that command', async () => {
    const decode = (await holdfast('decode', '--help')).stdout.replaceAll(/\s+/g, ' ');
    expect(decode).toContain('(default: holdfast-decode)');
    expect(decode).not.toContain('created with the directory');
    const retry = (await holdfast('dead-letters', 'retry', '--help')).stdout;
    expect(retry).toContain('And every option of `holdfast serve`.');
    expect(retry).not.toContain('--kafka-topic');
  });

  it('of serve has its options in groups', async () => {
    const { stdout } = await holdfast('serve', '--help');
    const scans = stdout.slice(stdout.indexOf('\nScans:\n'), stdout.indexOf('\nA participant:\n'));
    expect(scans.match(/^ {2}--[a-z-]+/gm)).toEqual(
      ['scan', 'scan-page-size', 'scan-poll-interval', 'scan-ca', 'start'].map((name) => `  --${name}`),
    );
  });
});

describe('holdfast status', () => {
  it('says how old a time is', () => {
    const now = Date.parse('2026-10-03T00:00:00Z');
    const ages = ['2026-10-01T00:00:00Z', '2026-10-02T22:58:00Z', '2026-10-02T23:59:59Z', '2026-10-03T00:05:00Z', 'on'];
    expect(ages.map((time) => withAge(time, now))).toEqual([
      '2026-10-01T00:00:00Z (2 days ago)',
      '2026-10-02T22:58:00Z (62 minutes ago)',
      '2026-10-02T23:59:59Z (1 second ago)',
      '2026-10-03T00:05:00Z (in 5 minutes)',
      'on',
    ]);
  });

  it('exits with 3 where it is not ready, if that is asked for', async () => {
    const [first] = readFileSync(fixture('story.scan.ndjson'), 'utf8').split('\n');
    const ready = await makeDataDirectory([fixture('story.scan.ndjson')]);
    const unready = await makeDataDirectory([folder.writeLines('first.ndjson', [first!])]);
    const ask = async (data: string, ...more: string[]) => (await holdfast('status', '--data', data, ...more)).code;
    expect(await ask(ready, '--check')).toBe(0);
    expect(await ask(ready, '--wait', '5s')).toBe(0);
    expect(await ask(unready)).toBe(0);
    expect(await ask(unready, '--check')).toBe(3);
    expect(await ask(unready, '--wait', '1s', '--json')).toBe(3);
    expect(await ask(unready, '--check', '--watch')).toBe(2);
  });
});
