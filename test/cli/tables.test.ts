import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { formatTable } from '../../src/cli/terminal.ts';
import { makeDataDirectory, openHoldings } from '../support/http/holdings-service.ts';
import { readCsv } from '../support/http/read-csv.ts';
import { startService } from '../support/http/service.ts';
import { askTable } from '../support/http/table-pages.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { freePorts } from '../support/program/free-ports.ts';
import { startProgram } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf } from '../support/views/replayed.ts';

/** More than two pages. */
const OWNERS = 2_100;
const folder = temporaryDirectory();
const creates = Array.from({ length: OWNERS }, (_, i) => `+c${i} o${i} ${1 + (i % 50)} ${i % 7 === 0 ? 'locked' : ''}`);
const ledger = `00:01 : ${creates.join(' ; ')}\n00:15 : +d o5 100 ; -c6\n00:40 m1 : +z zoe 1\n01:00 m1 : +y zoe 2\n01:05 :`;
const dataDir = await makeDataDirectory([folder.writeLines('feed.ndjson', linesOf(parseLedger(ledger), 'scan'))]);
const service = openHoldings(dataDir);
afterAll(() => {
  service[Symbol.dispose]();
  folder[Symbol.dispose]();
});

const OWNER = partyOf('o5');
/** A command line, and the same question over HTTP. */
const QUESTIONS: readonly (readonly [line: string, path: string, given: Readonly<Record<string, unknown>>])[] = [
  ['top', 'top', {}],
  ['top --migration 0', 'top', { migration_id: 0 }],
  [
    'top --migration 0 --by locked --at 2025-02-12T00:11:00Z',
    'top',
    { migration_id: 0, by: 'locked', record_time: '2025-02-12T00:11:00Z' },
  ],
  ['owners --migration 0 --prefix o1', 'owners', { migration_id: 0, prefix: 'o1' }],
  [
    'owners --migration 0 --at 2025-02-12T00:10:00Z',
    'owners',
    { migration_id: 0, record_time: '2025-02-12T00:10:00Z' },
  ],
  [`history --owner ${OWNER}`, `owners/${OWNER}/history`, {}],
  [
    `history --owner ${OWNER} --migration 0 --every 20m --from 2025-02-12T00:00:00Z --to 2025-02-12T00:10:00Z`,
    `owners/${OWNER}/history`,
    { migration_id: 0, every: '20m', from: '2025-02-12T00:00:00Z', to: '2025-02-12T00:10:00Z' },
  ],
];

const run = (line: string): ReturnType<typeof holdfast> => holdfast(...line.split(' '), '--data', dataDir);
const ask = async (path: string, given: Readonly<Record<string, unknown>>): Promise<string> =>
  await (await askTable(service.app, `/holdfast/v1/${path}`, given)).text();

test.each(QUESTIONS)(
  'holdfast %s prints the body of the operation, CSV of all rows, or a table',
  async (line, path, given) => {
    const json = await run(`${line} --json`);
    expect({ code: json.code, stderr: json.stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.stringify(JSON.parse(json.stdout))).toBe(await ask(path, given));
    const all = path.endsWith('history') ? {} : { limit: 'all' };
    const csv = await ask(path, { ...given, ...all, format: 'csv' });
    expect(await run(`${line} --csv`)).toMatchObject({ code: 0, stdout: csv });

    const { code, stdout, stderr } = await run(line);
    const [about, blank, header, ...rows] = stdout.trimEnd().split('\n');
    const count = Math.min(readCsv(csv).rows.length, path.endsWith('history') ? Infinity : 100);
    expect({ code, blank, rows: rows.length }).toEqual({ code: 0, blank: '', rows: count });
    expect(about).toContain(`migration id ${given.migration_id ?? 1}`);
    expect(header).toMatch(/ unlocked +locked +total/);
    const more = 'holdfast: there are more rows; --limit asks for as many, --csv prints all\n';
    expect(stderr).toBe(count === 100 ? more : '');
  },
);

describe('the rows of a table', () => {
  test('are as many as are asked for, of more than one page', async () => {
    expect(readCsv((await run('top --migration 0 --csv')).stdout).rows).toHaveLength(OWNERS - 1);
    expect(readCsv((await run('owners --migration 0 --csv')).stdout).rows).toHaveLength(OWNERS);
    const some = readCsv((await run('top --migration 0 --csv --limit 1501')).stdout).rows;
    expect(some.map(({ rank }) => rank)).toEqual(Array.from({ length: 1501 }, (_, i) => String(i + 1)));
    expect((await run('owners --migration 0 --limit 1200')).stdout.trimEnd().split('\n')).toHaveLength(1200 + 3);
    expect(JSON.parse((await run('top --migration 0 --json --limit 1000')).stdout).owners).toHaveLength(1000);
  });

  test.each([
    ['top --limit 0', 2, '--limit: given "0", expected an integer from 1'],
    ['top --limit 1001 --json', 2, '--limit: given "1001", expected an integer from 1 to 1000 with --json'],
    ['top --by size', 2, '--by: given "size", expected total or unlocked or locked'],
    ['top --json --csv', 2, '--csv: given with --json, expected one of them'],
    ['snapshots --json --csv', 2, '--csv: given with --json, expected one of them'],
    ['owners --at noon', 2, '--at: given "noon", expected an RFC 3339 date-time'],
    ['history --owner alice', 2, '--owner: given "alice", expected a party id'],
    [`history --owner ${OWNER} --every 7m`, 2, 'every: given 7m, expected a multiple of the snapshot period, 10m'],
    [`history --owner ${OWNER} --limit 5`, 2, "unknown option '--limit'"],
    [`history --owner ${OWNER} --last 7`, 2, '--last: given "7", expected a duration'],
    [`history --owner ${OWNER} --last 7d --from -8d`, 2, '--last: given with --from, expected one of them'],
    ['snapshots --limit 0', 2, '--limit: given "0", expected an integer from 1'],
    ['top --at 2025-02-11T00:00:00Z', 4, 'No snapshots found before 2025-02-11T00:00:00Z; `holdfast snapshots` lists'],
    ['owners --migration 7', 4, 'No snapshots found in migration 7'],
  ])('%s ends with %i', async (line, code, said) => {
    const ended = await run(line);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' });
    expect(ended.stderr).toContain(said);
    expect(ended.stderr.trimEnd()).not.toContain('\n');
  });
});

it('sets columns of numbers to the right and the others to the left', () => {
  const rows = ['1 a', '10 bcdefg', '-3 '].map((row) => row.split(' '));
  expect(formatTable(['id', 'name'], rows)).toBe('id  name\n 1  a\n10  bcdefg\n-3\n');
  expect(formatTable(['id'], [])).toBe('id\n');
});

it('takes as many rows as a directory may have snapshots or dead letters', () => {
  const rows = Array.from({ length: 150_000 }, (_, i) => [String(i), 'x']);
  const lines = formatTable(['no', 'name'], rows).split('\n');
  expect([lines[0], lines[1], lines.at(-2)]).toEqual(['    no  name', '     0  x', '149999  x']);
});

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
    const { code, stdout, stderr } = await holdfast('status', '--data', data);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rows = Object.fromEntries(rowsOf(stdout));
    expect(rows).toMatchObject({
      ready: 'yes',
      'newest snapshot': expect.stringMatching(/^2025-02-12T01:10:00Z \(\d+ days ago\), migration 0$/),
      'dead letters': '1 halted',
    });
    expect(rows.degraded).toMatch(/^halted at .*bad, message 1: .*holdfast dead-letters drop 1 --data \//);
  });

  it('of a service says what it reads, and how fast', async () => {
    using directory = temporaryDirectory();
    await using service = await startService(['--data', directory.at('data'), '--file', STORY]);
    await service.until('/readyz', (status) => status === 200);
    const { code, stdout, stderr } = await holdfast('status', '--url', `${service.url}/`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(Object.fromEntries(rowsOf(stdout))).toMatchObject({
      ready: 'yes',
      phase: 'caught_up',
      source: STORY,
      updates: '14 since the start, 0 a second',
    });
    const json = JSON.parse((await holdfast('status', '--json', '--url', service.url)).stdout);
    const readiness = (await service.ask('/readyz')).body;
    expect(json).toMatchObject({ readiness, status: { counts: { updates: 14 } } });
  });

  it('of a service whose source cannot be reached says how often it was tried', async () => {
    using directory = temporaryDirectory();
    const [port] = await freePorts(1);
    await using service = await startService(['--data', directory.at('data'), '--scan', `http://127.0.0.1:${port}`]);
    await service.until('/readyz', (_, body) => JSON.stringify(body).includes('ECONNREFUSED'));
    const { stdout } = await holdfast('status', '--url', service.url);
    expect(stdout).toMatch(/^ready +no$/m);
    expect(stdout).toMatch(/^ {2}consecutive errors +[1-9]\d*$/m);
    expect(stdout).toMatch(/^ {2}last error +.*ECONNREFUSED/m);
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
    const { code, stdout, stderr } = await holdfast('status', '--url', url);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^holdfast: http:\S+\/readyz: no answer of a Holdfast of this version\n$/);
    server.close().closeAllConnections();
    await once(server, 'close');
    expect((await holdfast('status', '--url', url)).stderr).toMatch(/no answer of a Holdfast \(.*ECONNREFUSED/);
    expect(await holdfast('status', '--url', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--url: given "x", expected/),
    });
  });
});
