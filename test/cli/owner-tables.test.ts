import { pino } from 'pino';
import { afterAll, describe, expect, it, test } from 'vitest';
import { rowsForPeople } from '../../src/cli/terminal.ts';
import { SERVER_LIMITS, startHttpServer } from '../../src/http/http-server.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings } from '../support/http/holdings-service.ts';
import { readCsv } from '../support/http/read-csv.ts';
import { askTable } from '../support/http/table-pages.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { holdfast, holdfastOnTerminal } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf } from '../support/views/replayed.ts';

const ALICE = 'alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec';

const folder = temporaryDirectory();
const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());
parts.use(folder);
const story = await served([fixture('story.scan.ndjson')]);

/** A data directory, and a service of it. */
async function served(feed: readonly string[]) {
  const dataDir = await makeDataDirectory(feed);
  const { app } = parts.use(openHoldings(dataDir));
  const logger = pino({ level: 'silent' });
  const about = { host: '127.0.0.1', port: 0, logger, limits: SERVER_LIMITS };
  const { url } = parts.use(await startHttpServer({ fetch: app.fetch, ...about }));
  return {
    app,
    places: [
      ['--data', dataDir],
      ['--url', `${url}/`],
    ] as const,
  };
}

/** A command line, and the same question over HTTP. */
const QUESTIONS: readonly (readonly [line: string, given: Readonly<Record<string, unknown>>])[] = [
  ['movements', {}],
  [
    'movements --migration 0 --kind in --kind lock --order asc --from 2025-02-12T00:01:00Z --to 2025-02-12T00:40:00Z',
    { migration_id: 0, kind: 'in,lock', order: 'asc', from: '2025-02-12T00:01:00Z', to: '2025-02-12T00:40:00Z' },
  ],
  ['movements --kind out,unlock', { kind: 'out,unlock' }],
  ['statement', {}],
  ['statement --every 10m --from 2025-02-12T00:20:00Z', { every: '10m', from: '2025-02-12T00:20:00Z' }],
  ['statement --month 2025-02', { from: '2025-02-01T00:00:00Z', to: '2025-03-01T00:00:00Z' }],
  ['statement --month 2024-12', { from: '2024-12-01T00:00:00Z', to: '2025-01-01T00:00:00Z' }],
  ['locks --at 2025-02-12T00:45:00Z', { record_time: '2025-02-12T00:45:00Z' }],
];

describe.each(QUESTIONS)('holdfast %s', (line, given) => {
  const [name = ''] = line.split(' ');
  const ask = async (more: object): Promise<string> =>
    (await askTable(story.app, `/holdfast/v1/owners/${ALICE}/${name}`, { ...given, ...more })).text();

  test.each(story.places)('with %s prints what the operation answers', async (option, place) => {
    const run = (...more: string[]) => holdfast(...line.split(' '), '--owner', ALICE, option, place, ...more);
    const json = await run('--json');
    expect({ code: json.code, stderr: json.stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.stringify(JSON.parse(json.stdout))).toBe(await ask({}));
    const csv = await ask({ format: 'csv', ...(name === 'statement' ? {} : { limit: 'all' }) });
    expect(await run('--csv')).toEqual({ code: 0, stdout: csv, stderr: '' });
    const [, , , ...rows] = (await run()).stdout.trimEnd().split('\n');
    expect(rows).toHaveLength(readCsv(csv).rows.length);
  });
});

const TABLES = {
  movements: `
record time           kind             change           total  with
2025-02-12T00:53:00Z  unlock   300.0000000000  379.7500000000
2025-02-12T00:21:00Z  lock     300.0000000000  379.7500000000
2025-02-12T00:12:00Z  out     -120.2500000000  379.7500000000  bob::1220ae…f308b
2025-02-12T00:03:10Z  in       500.0000000000  500.0000000000  (minted)
`,
  'statement --every 10m --to 2025-02-12T00:30:00Z': `
from                        received            sent         closing  movements
2025-02-12T00:01:59Z  500.0000000000    0.0000000000  500.0000000000          1
2025-02-12T00:10:00Z    0.0000000000  120.2500000000  379.7500000000          1
2025-02-12T00:20:00Z    0.0000000000    0.0000000000  379.7500000000          1
`,
  'locks --at 2025-02-12T00:40:00Z': `
expires at                    amount  expired  holders           context
2025-02-12T12:00:00Z  300.0000000000  no       bob::1220a…f308b  a trade wi…bob"
`,
};

describe('on a terminal', () => {
  test.each(Object.entries(TABLES))('of 80 columns, %s fits', async (line, table) => {
    const { stdout } = await holdfastOnTerminal(80, ...line.split(' '), '--owner', ALICE, ...story.places[0]);
    expect(stdout.slice(stdout.indexOf('\n\n') + 1)).toBe(table);
    expect(stdout.split('\n').filter((each) => each.length > 80)).toEqual([]);
  });

  it.each([[], ['--owner', ALICE]])('of 80 columns, instruments fit with %j', async (...given) => {
    const { stdout } = await holdfastOnTerminal(80, 'instruments', ...given, ...story.places[0]);
    expect(stdout).toMatch(/^admin .* total/m);
    expect(stdout.split('\n').filter((each) => each.length > 80)).toEqual([]);
  });

  it('that does not say how wide it is has 80 columns', async () => {
    const line = ['top', ...story.places[0]];
    expect((await holdfastOnTerminal(0, ...line)).stdout).toBe((await holdfastOnTerminal(80, ...line)).stdout);
  });

  it('that is wide shows all', async () => {
    const { stdout } = await holdfastOnTerminal(250, 'movements', '--owner', ALICE, ...story.places[0]);
    expect(stdout).toMatch(/ with +update id\n/);
    expect(stdout).toContain('bob::1220aea0403af1b689b3c31a44d0368f5f1e60d13736ad7afca711ed4636400f308b  12200f87');
  });

  test.each([
    [99, '2025-02-12  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa  bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb    1.5  7'],
    [50, '2025-02-12  aaaaaaaa…aaaa  bbbbbbbb…bbbb    1.5  7'],
    [44, '2025-02-12  aaaaaa…aaa  bbbbbb…bbb    1.5  7'],
    [43, '2025-02-12  aaaaaaa…aaa  bbbbbbb…bbb    1.5'],
    [40, '2025-02-12  aaaaaaaa…aaaa  bbbbbbbb…bbbb'],
  ])('of %i columns, ids share the room, and are whole where there is enough', (width, line) => {
    const row = {
      from: '2025-02-12T00:00:00Z',
      party_id: 'a'.repeat(30),
      update_id: 'b'.repeat(30),
      total: '1.5',
      x: '7',
    };
    const text = rowsForPeople([...Object.keys(row), 'empty'], [row], { width, leftOut: ['x', 'total'] });
    expect(text.split('\n')[1]).toBe(line);
  });
});

it('a service is asked for as many pages as are wanted', async () => {
  const owner = partyOf('o');
  const creates = Array.from({ length: 1_100 }, (_, i) => `+c${i} o ${1 + (i % 50)} locked`);
  const feed = folder.writeLines(
    'locks.ndjson',
    linesOf(parseLedger(`00:01 : ${creates.join(' ; ')}\n00:15 :`), 'scan'),
  );
  const { places } = await served([feed]);
  for (const limit of [[], ['--limit', '777']]) {
    const [local, remote] = await Promise.all(
      places.map((place) => holdfast('locks', '--owner', owner, '--csv', ...place, ...limit)),
    );
    expect(remote).toEqual(local);
    expect(readCsv(remote!.stdout).rows).toHaveLength(limit.length === 0 ? 1_100 : 777);
  }
  const more = await holdfast('locks', '--owner', owner, ...places[1]);
  expect(more.stderr).toBe('holdfast: there are more rows; --limit asks for as many, --csv prints all\n');
});

describe.each(story.places)('with %s', (option, place) => {
  test.each([
    ['movements --kind up', 2, '--kind: given "up", expected in or out or lock or unlock, or several'],
    ['movements --order up', 2, '--order: given "up", expected desc or asc'],
    ['movements --migration 9', 4, 'holdfast: No updates applied in migration 9\n'],
    ['statement --month 2025-13', 2, '--month: given "2025-13", expected a month such as 2026-10'],
    ['statement --month 9999-12', 2, '--month: given "9999-12", expected'],
    ['statement --month 2025-02 --to 2025-02-12T00:40:00Z', 2, '--month: given with --from or --to'],
    ['statement --every 1ms', 2, 'every: given 1ms, which makes more than 5000 periods, expected at least 1h'],
    ['statement --every 1y', 2, '--every: given "1y", expected 1w, 1mo, all or a duration'],
    ['locks --at 2024-01-01T00:00:00Z', 4, 'No snapshots found before 2024-01-01T00:00:00Z'],
  ])('%s ends with %i', async (line, code, said) => {
    const ended = await holdfast(...line.split(' '), '--owner', ALICE, option, place);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' });
    expect(ended.stderr).toContain(said);
  });
});

it('what is no Holdfast of this version is an error that says so', async () => {
  const server = parts.use(
    await startHttpServer({
      fetch: () => Response.json({ error: 'no' }, { status: 500 }),
      ...{ host: '127.0.0.1', port: 0, logger: pino({ level: 'silent' }), limits: SERVER_LIMITS },
    }),
  );
  const { code, stderr } = await holdfast('locks', '--owner', ALICE, '--url', server.url);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/: answers 500 \("no"\), expected a Holdfast of this version\n$/),
  });
});
