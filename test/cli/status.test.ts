import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startService } from '../support/http/service.ts';
import { holdfast } from '../support/program/command.ts';
import { freePorts } from '../support/program/free-ports.ts';
import { runProgram, startProgram } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const STORY = join(import.meta.dirname, '../../fixtures/story.scan.ndjson');

/** A table of two columns as pairs. */
function rowsOf(stdout: string): string[][] {
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split(/ {2,}(?=\S)/)]));
}

describe('holdfast status', () => {
  it('of a directory says what views.db stores, and of a halt what to do next', async () => {
    using directory = temporaryDirectory();
    const data = directory.at('data');
    const bad = directory.writeLines('bad', ['{"update_id":7}']);
    await holdfast('replay', '--data', data, STORY, bad);
    const { code, stdout, stderr } = await runProgram(['status', '--data', data]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rows = Object.fromEntries(rowsOf(stdout));
    expect(rows).toMatchObject({
      ready: 'yes',
      'newest snapshot': '2025-02-12T01:10:00Z, migration 0',
      'dead letters': '1 halted',
    });
    expect(rows.degraded).toMatch(/^halted at .*bad, message 1: .*holdfast dead-letters drop 1/);
  });

  it('of a service says what it reads, and how fast', async () => {
    using directory = temporaryDirectory();
    await using service = await startService(['--data', directory.at('data'), '--file', STORY]);
    await service.until('/readyz', (status) => status === 200);
    const { code, stdout, stderr } = await runProgram(['status', '--url', `${service.url}/`]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(Object.fromEntries(rowsOf(stdout))).toMatchObject({
      ready: 'yes',
      phase: 'caught_up',
      source: STORY,
      updates: '14 since the start, 0 a second',
    });
    const json = JSON.parse((await runProgram(['status', '--json', '--url', service.url])).stdout);
    const readiness = (await service.ask('/readyz')).body;
    expect(json).toMatchObject({ readiness, status: { counts: { updates: 14 } } });
  });

  it('watches until it is stopped', async () => {
    using directory = temporaryDirectory();
    await holdfast('replay', '--data', directory.at('data'), STORY);
    await using watching = startProgram(['status', '--watch', '--data', directory.at('data')]);
    await expect.poll(() => watching.stdout().split('newest snapshot').length).toBeGreaterThan(2);
    watching.kill('SIGTERM');
    expect(await watching.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('of what is no Holdfast says so in a line', async () => {
    const [port] = await freePorts(1);
    const server = createServer((_, response) => response.end('<html>')).listen(port, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${port}`;
    const { code, stdout, stderr } = await runProgram(['status', '--url', url]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^holdfast: http:\S+\/readyz: no answer of a Holdfast of this version\n$/);
    server.close().closeAllConnections();
    await once(server, 'close');
    expect((await runProgram(['status', '--url', url])).stderr).toMatch(/no answer of a Holdfast \(.*ECONNREFUSED/);
    expect(await runProgram(['status', '--url', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--url x: expected/),
    });
  });
});
