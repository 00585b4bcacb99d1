import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { importMarker, seededFeed } from '../../demo/active-contracts.ts';
import { startFakeScan } from '../../demo/local-scan.ts';
import { openNetworkLines } from '../../src/cli/transfer/network-lines.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { type Ended, holdfast } from '../support/program/command.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { startProgram } from '../support/program/program.ts';
import { freshScan } from '../support/scan/fresh-scan.ts';
import { DSO, scanLedger, timeOf } from '../support/scan/ledger.ts';
import { replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const LINES = scanLedger(41, 200);
const SEEDED_AT = timeOf(LINES[80]!);
const directory = freshDirectory();
const scan = freshScan({ migrationId: 0, lines: LINES.slice(0, 150), snapshots: [SEEDED_AT] });

const fetched = (...args: string[]): Promise<Ended> => holdfast('fetch', '--scan', scan.url, ...args);
const linesIn = (file: string): string[] => readFileSync(directory.at(file), 'utf8').trimEnd().split('\n');

async function viewsOf(name: string, file: string): Promise<ReturnType<typeof dumpViews>> {
  expect(await replayInto(directory.at(name), [file], { dso: DSO })).toMatchObject({ halted: null });
  return dumpViews(directory.at(name));
}

/** The views of the snapshot import and of the updates after it. */
function wantedViews(): Promise<ReturnType<typeof dumpViews>> {
  const lines = seededFeed(LINES, { recordTime: SEEDED_AT });
  return viewsOf('wanted', directory.writeLines('wanted.ndjson', lines));
}

describe('fetch', () => {
  it('writes all updates as they came to standard output, once each', async () => {
    const { code, stdout } = await fetched('--start', 'beginning', '--scan-page-size', '7');
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').sort()).toEqual(LINES.slice(0, 150).sort());
  });

  it('writes a snapshot import that replays to the same views, and continues its file after a line that is cut off', async () => {
    const output = directory.at('feed.ndjson');
    // The last page of its contracts is empty.
    expect(await fetched('--output', output, '--scan-page-size', '1')).toMatchObject({ code: 0 });
    truncateSync(output, readFileSync(output).length - 50);
    scan.add(...LINES.slice(150));
    expect(await fetched('--output', output)).toMatchObject({ code: 0 });
    expect(new Set(linesIn('feed.ndjson')).size).toBe(linesIn('feed.ndjson').length);
    expect(await viewsOf('views', output)).toEqual(await wantedViews());
  });

  it('ends where the network has no update yet, and after a snapshot import that none follows', async () => {
    await using empty = await startFakeScan({ migrationId: 0 });
    expect(await holdfast('fetch', '--scan', empty.url, '--start', 'beginning')).toMatchObject({ code: 0, stdout: '' });
    // Hours after the last update.
    scan.change({ snapshots: ['2025-03-01T00:00:00.000000Z'] });
    const { code, stdout } = await fetched();
    expect({ code, last: stdout.trimEnd().split('\n').at(-1) }).toEqual({
      code: 0,
      last: expect.stringMatching(/^\{"seed":/),
    });
  });

  it('refuses a file that ends within a snapshot import, and leaves it as it is', async () => {
    const seed = seededFeed(LINES, { recordTime: SEEDED_AT });
    const output = directory.writeLines('feed.ndjson', seed.slice(0, 20));
    appendFileSync(output, '{"update_id"');
    const before = readFileSync(output, 'utf8');
    const stderr = expect.stringMatching(
      /ends within a snapshot import, which cannot be continued; .*name another file/,
    );
    expect(await fetched('--output', output)).toMatchObject({ code: 2, stderr });
    expect(readFileSync(output, 'utf8')).toBe(before);
  });

  it('with --follow writes what comes later, until it is stopped', async () => {
    const output = directory.at('feed.ndjson');
    const args = ['--output', output, '--follow', '--start', 'beginning', '--scan-poll-interval', '100ms'];
    await using program = startProgram(['fetch', '--scan', scan.url, ...args]);
    await expect.poll(() => existsSync(output) && linesIn('feed.ndjson').length).toBe(150);
    scan.add(...LINES.slice(150));
    await expect.poll(() => linesIn('feed.ndjson').length).toBe(200);
    program.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0 });
  });

  it('compresses a file by its name, and does not continue it', async () => {
    scan.add(...LINES.slice(150));
    for (const name of ['feed.ndjson.gz', 'feed.ndjson.zst']) {
      const output = directory.at(name);
      expect(await fetched('--output', output)).toMatchObject({ code: 0 });
      expect(await viewsOf(`views of ${name}`, output)).toEqual(await wantedViews());
    }
    const again = await fetched('--output', directory.at('feed.ndjson.gz'));
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('a compressed file cannot be continued') });
  });

  it('does not continue a file of another network, nor one that does not show of which it is', async () => {
    const output = directory.at('feed.ndjson');
    const [update] = LINES;
    for (const [dso, lines, text] of [
      ['OTHER::1220ff', LINES.slice(0, 100), `has the coins of ${DSO}, and`],
      [DSO, [emptyUpdate('s', 0)], 'does not show of which network it is'],
      [
        DSO,
        [update!.replace('"migration_id":0', '"migration_id":3')],
        'is in migration 0, and what is here is of migration 3',
      ],
    ] as const) {
      directory.writeLines('feed.ndjson', lines);
      scan.change({ dso });
      expect(await fetched('--output', output)).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
      expect(linesIn('feed.ndjson')).toEqual(lines);
    }
  });

  it('does not continue what is no feed', async () => {
    appendFileSync(directory.at('notes.txt'), 'something else\n');
    const { code, stderr } = await fetched('--output', directory.at('notes.txt'));
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('it ends with no update') });
    expect(linesIn('notes.txt')).toEqual(['something else']);
    appendFileSync(directory.at('note.txt'), 'half a line');
    expect(await fetched('--output', directory.at('note.txt'))).toMatchObject({ code: 2 });
    expect(readFileSync(directory.at('note.txt'), 'utf8')).toBe('half a line');
  });

  it('says why a network is refused', async () => {
    scan.change({ migrationId: 4 });
    const { code, stderr } = await fetched('--start', 'beginning');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('the network is in migration 4') });
    expect(await holdfast('fetch')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--scan or --ledger-api says'),
    });
  });
});

const MOVED = LINES.map((line, i) => (i < 20 ? line : line.replace('"migration_id":0', '"migration_id":1')));

it.each([
  { name: 'an earlier migration', quiet: MOVED.slice(0, 20) },
  { name: 'an import', quiet: [importMarker(1, timeOf(MOVED[20]!))] },
])('a topic with a partition that ends with $name is continued behind the others', async ({ quiet }) => {
  scan.lines.splice(0, scan.lines.length, ...MOVED);
  scan.change({ migrationId: 1 });
  const ends = [quiet, MOVED.slice(60, 100)].map((lines) => lines.map((line) => Buffer.from(line)));
  const intervals = { pollIntervalMs: 100, readyLagMaxMs: 60_000 };
  const settings = { urls: [scan.url], pageSize: 100, ca: null, start: 'beginning', ...intervals } as const;
  const config = { scan: settings, ledgerApi: null, migrationId: null };
  const reading = { follow: false, stop: new AbortController().signal, logger: pino({ level: 'silent' }) };
  const found: string[] = [];
  for await (const step of openNetworkLines({ ends, name: 't', otherwise: 'stop' }, config, reading).read())
    if (typeof step !== 'string') found.push(...step.map(String));
  expect(found).toEqual(MOVED.slice(100));
});
