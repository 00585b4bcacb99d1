import { afterAll, describe, expect, test } from 'vitest';
import { makeDataDirectory, openHoldings } from '../support/http/holdings-service.ts';
import { readCsv } from '../support/http/read-csv.ts';
import { askTable } from '../support/http/table-pages.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
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

describe.each(QUESTIONS)('holdfast %s', (line, path, given) => {
  test('prints as JSON the body of the operation', async () => {
    const { code, stdout, stderr } = await run(`${line} --json`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.stringify(JSON.parse(stdout))).toBe(await ask(path, given));
  });

  test('prints as CSV all rows', async () => {
    const { code, stdout } = await run(`${line} --csv`);
    const all = path.endsWith('history') ? {} : { limit: 'all' };
    expect({ code, stdout }).toEqual({ code: 0, stdout: await ask(path, { ...given, ...all, format: 'csv' }) });
  });

  test('prints a table for people, with what it is about above it', async () => {
    const { code, stdout, stderr } = await run(line);
    const [about, blank, header, ...rows] = stdout.trimEnd().split('\n');
    const { rows: all } = readCsv(await ask(path, { ...given, format: 'csv' }));
    expect({ code, blank, rows: rows.length }).toEqual({ code: 0, blank: '', rows: all.length });
    expect(about).toContain(`migration id ${given.migration_id ?? 1}`);
    expect(header).toContain('unlocked coin');
    expect(stderr).toBe(
      all.length === 100 ? 'holdfast: there are more rows; --limit asks for as many, --csv prints all\n' : '',
    );
  });
});

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
    ['top --at 2025-02-11T00:00:00Z', 4, 'No snapshots found before 2025-02-11T00:00:00Z; `holdfast snapshots` lists'],
    ['owners --migration 7', 4, 'No snapshots found in migration 7'],
  ])('%s ends with %i', async (line, code, said) => {
    const ended = await run(line);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' });
    expect(ended.stderr).toContain(said);
    expect(ended.stderr.trimEnd()).not.toContain('\n');
  });
});
