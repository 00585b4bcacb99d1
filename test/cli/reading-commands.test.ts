import { afterAll, describe, expect, it, test } from 'vitest';
import { fixture } from '../support/http/expected-answers.ts';
import { makeDataDirectory } from '../support/http/holdings-service.ts';
import { startService } from '../support/http/service.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { holdfast, holdfastOnTerminal } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf } from '../support/views/replayed.ts';

const ALICE = 'alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec';

const folder = temporaryDirectory();
const parts = new AsyncDisposableStack();
parts.use(folder);
afterAll(() => parts.disposeAsync());
const ledger = `00:01 : +a ann 5 ; +b anna 7 ; +c bob 9
00:15 : -a
05:05 :
06:00 m1 : +z zoe 1
06:30 m1 :`;
const feed = folder.writeLines('feed.ndjson', linesOf(parseLedger(ledger), 'scan'));
const data = folder.at('data');
const service = parts.use(await startService(['--data', data, '--file', feed]));
await service.until('/readyz', (status) => status === 200);
const PLACES = [
  ['--data', data],
  ['--url', service.url],
] as const;
const story = await makeDataDirectory([fixture('story.scan.ndjson')]);

describe.each(PLACES)('with %s', (option, place) => {
  const run = (line: string) => holdfast(...line.split(' '), option, place);
  const shown = (line: string) => holdfastOnTerminal(80, ...line.split(' '), option, place);

  test.each([
    'top --migration 0',
    'top --json',
    'owners --migration 0 --csv',
    `history --migration 0 --owner ${partyOf('anna')}`,
    'snapshots',
    'snapshots --json',
    'snapshots --csv --limit 3',
    'snapshots --migration 0 --from 2025-02-12T01:00:00Z --to 2025-02-12T02:00:00Z',
    `summary --owner ${partyOf('anna')} ${partyOf('nobody')}`,
    `summary --owner ${partyOf('bob')} --at 2025-02-12T00:10:00Z --migration 0 --json`,
  ])('%s prints the same of a service as of its directory', async (line) => {
    const given = await run(line);
    expect(given).toEqual(await holdfast(...line.split(' '), '--data', data));
    expect(given.code).toBe(0);
  });

  it('snapshots shows a terminal the newest ones first, and as many as are asked for', async () => {
    const { stdout, stderr } = await shown('snapshots');
    const [header, first, ...others] = stdout.trimEnd().split('\n');
    expect(header).toMatch(/^migration +record time +/);
    expect(first).toMatch(/^ +1 +2025-02-12T06:20:00Z /);
    expect(others).toHaveLength(19);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(stderr).toBe('holdfast: there are more rows; --limit asks for as many, --csv prints all\n');
    expect((await shown('snapshots --limit 1000')).stderr).toBe('');
    const all = JSON.parse((await run('snapshots --json')).stdout) as { record_time: string }[];
    const newest = JSON.parse((await run('snapshots --json --limit 2')).stdout);
    expect(newest).toEqual(all.slice(-2));
    expect(all.map((each) => each.record_time)).toEqual(all.map((each) => each.record_time).sort());
  });

  it('history shows a terminal its end first', async () => {
    const line = `history --migration 0 --owner ${partyOf('anna')}`;
    const { stdout, stderr } = await shown(line);
    const rows = stdout.slice(stdout.indexOf('\n\n')).trim().split('\n').slice(1);
    expect(rows[0]).toMatch(/^2025-02-12T05:00:00Z /);
    expect(rows).toHaveLength(20);
    const never = await shown(`history --migration 0 --owner ${partyOf('nobody')} --every 1h`);
    expect(never.stderr).toMatch(/^holdfast: this owner has no coin at any of these times;/);
    expect(stderr).toMatch(/^holdfast: the newest 20 of \d+ points; --last and --every choose others\n$/);
  });

  it('a beginning of a party id is enough on a terminal, where no other owner has it', async () => {
    const line = `history --migration 0 --owner ${partyOf('anna')}`;
    expect((await shown('history --migration 0 --owner anna')).stdout).toBe((await shown(line)).stdout);
    const several = await shown('history --migration 0 --owner ann');
    expect(several).toMatchObject({ code: 2, stdout: '' });
    expect(several.stderr).toMatch(/^holdfast: --owner: given "ann", which begins ann::\S+ and anna::\S+ at least/);
    expect(await shown('history --owner nobody')).toMatchObject({ code: 2, stdout: '' });
    expect(await run('history --owner anna')).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('a time', () => {
  const topAt = (at: string) => holdfast('top', '--at', at, '--data', story, '--json');

  it('may be a date, or so long ago', async () => {
    expect(await topAt('2025-02-13')).toEqual(await topAt('2025-02-13T00:00:00Z'));
    expect((await topAt('-1h')).stdout).toBe((await holdfast('top', '--data', story, '--json')).stdout);
    expect((await topAt('-36500d')).code).toBe(4);
    expect((await topAt('-7')).stderr).toContain('or -7d for so long ago');
    const recent = await holdfast('snapshots', '--last', '1d', '--csv', '--data', story);
    expect(recent.stdout.trimEnd().split('\n')).toHaveLength(1);
  });
});

test('summary fits a terminal', async () => {
  const { stdout, code } = await holdfastOnTerminal(80, 'summary', '--owner', 'alice', '--data', story);
  expect(code).toBe(0);
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(stdout).toContain('alice::');
  const whole = await holdfast('summary', '--owner', ALICE, '--data', story);
  expect(whole.stdout).toContain(ALICE);
});
