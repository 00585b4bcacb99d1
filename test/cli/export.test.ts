import { globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { movementEvent } from '../../src/holdings/movement-answers.ts';
import { type ExportedMigration, openExport } from '../../src/views/read/export-reader.ts';
import { comparable, type Exported, exportedAnswers } from '../support/http/exported-answers.ts';
import { openHoldings } from '../support/http/holdings-service.ts';
import { readCsv } from '../support/http/read-csv.ts';
import type { Row } from '../support/http/table-pages.ts';
import { importsOfOne } from '../support/ledger/history.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { MAIN, runProgram } from '../support/program/program.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto, SMALL_EPOCHS } from '../support/views/replayed.ts';
import { replayWithForced } from '../support/views/table-views.ts';

const root = join(import.meta.dirname, '../..');
const TABLES = ['movements', 'totals', 'snapshots'] as const;
const HOUR_US = 3_600_000_000;
const DAY_US = 24 * HOUR_US;
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

/** Amounts that fit 28 digits also in sums, over some days. */
const NARROW = { stepMeanMicros: HOUR_US / 2, shares: { wideAmount: 0 } };

const seeds = Array.from({ length: soakCount(1) }, (_, seed) => seed + 31);

const LEDGERS: Readonly<Record<string, () => Promise<string>>> = {
  async story() {
    const feeds = ['story', 'story-migration'].map((name) => join(root, `fixtures/${name}.scan.ndjson`));
    await replayInto(folder.at('story'), feeds, { ...SMALL_EPOCHS, seal: true });
    return folder.at('story');
  },
  ...Object.fromEntries(
    seeds.flatMap((seed) => [
      [`coins ${seed}`, () => randomDirectory(seed, 'scan')],
      [`tokens ${seed}`, () => randomDirectory(seed, 'participant')],
    ]),
  ),
};

async function randomDirectory(seed: number, format: 'scan' | 'participant'): Promise<string> {
  const isScan = format === 'scan';
  const shares = { ...NARROW.shares, ...(!isScan && { token: 0.7, repair: 0.1 }) };
  const options = { ...NARROW, updates: 250, migrations: isScan ? 1 + (seed % 3) : 1, carriedOver: 20, shares };
  const items = [...randomLedger(oddLedger(seed, options))].flatMap((item) => importsOfOne(item));
  return (await replayWithForced(folder, items, [40 + (seed % 9), 90 + Number(isScan), 160], format)).dataDir;
}

/** The rows of all days, as texts, each of the day it must be of. */
function csvRows(output: string, what: Exported): Row[] {
  return globSync(join(output, what, '*/part.csv')).flatMap((file) => {
    const { rows } = readCsv(readFileSync(file, 'utf8'));
    const day = /day=(.{10})/.exec(file)![1];
    for (const row of rows) expect((row.counted_at ?? row.record_time)!.slice(0, 10)).toBe(day);
    return rows;
  });
}

let duck: Awaited<ReturnType<DuckDBInstance['connect']>>;
beforeAll(async () => {
  duck = await (await DuckDBInstance.create(':memory:')).connect();
  await duck.run("SET TimeZone = 'UTC'");
});

async function query(sql: string): Promise<Record<string, string | null>[]> {
  return (await duck.runAndReadAll(sql)).getRowObjects() as Record<string, string | null>[];
}

async function parquetRows(output: string, what: Exported): Promise<Row[]> {
  const rows = await query(`SELECT COLUMNS(*)::VARCHAR FROM read_parquet('${output}/${what}/*/part.parquet')`);
  return rows.map(({ day, ...row }) => {
    const texts = Object.entries(row).map(([name, value]) => [name, value ?? '']);
    const times = texts.filter(([name]) => name === 'record_time' || name === 'counted_at');
    const zulu = times.map(([name, time]) => [name, time!.replace(' ', 'T').replace(/\+00$/, 'Z')]);
    const read = Object.fromEntries([...texts, ...zulu]) as Record<string, string>;
    expect((read.counted_at ?? read.record_time)!.slice(0, 10)).toBe(day);
    return read;
  });
}

const write = (data: string, what: Exported, output: string, ...more: readonly string[]) =>
  holdfast('export', '--data', data, '--what', what, '--output', output, ...more);

async function exported(data: string, what: Exported, output: string, ...more: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await write(data, what, output, ...more);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function migrationsOf(data: string): Promise<number[]> {
  const { stdout } = await holdfast('snapshots', '--json', '--data', data);
  return [...new Set((JSON.parse(stdout) as { migration_id: number }[]).map(({ migration_id }) => migration_id))];
}

/** All of a migration, day by day. */
function* eachFact<Fact>({ from, to, dayAt }: ExportedMigration<Fact>): Generator<Fact> {
  for (let day = Math.floor(from / DAY_US) * DAY_US; day <= to; day += DAY_US)
    for (const facts of dayAt(day)?.read() ?? []) yield* facts;
}

describe.each(Object.keys(LEDGERS))('an export of the ledger: %s', async (name) => {
  const data = await LEDGERS[name]!();
  const output = folder.at(`${name}-files`);
  const migrations = await migrationsOf(data);
  const service = openHoldings(data);
  afterAll(() => service[Symbol.dispose]());

  it.each(TABLES)('has the rows of the API to the last digit: %s', async (what) => {
    const wanted = comparable(await exportedAnswers(service.app, what, migrations));
    expect(wanted.length).toBeGreaterThan(8);
    await exported(data, what, output);
    await exported(data, what, output, '--format', 'csv');
    expect(comparable(csvRows(output, what))).toEqual(wanted);
    expect(comparable(await parquetRows(output, what))).toEqual(wanted);
  });

  it('has the same rows where little is read at once, and little held in memory', () => {
    const factsOf = (limits: Parameters<typeof openExport>[1]): unknown[] => {
      using reader = openExport(data, limits);
      const { movements, totals } = reader.migrations;
      return [
        ...movements.flatMap((migration) => [...eachFact(migration)].map(movementEvent)),
        ...totals.flatMap((migration) => [...eachFact(migration)]),
      ];
    };
    const wanted = factsOf({});
    expect(wanted.length).toBeGreaterThan(15);
    expect(factsOf({ rowsAtOnce: 3, balancesMax: 2 })).toEqual(wanted);
  });

  it('has whole days from --from to --to, and keeps what is finished', async () => {
    const days = readdirSync(join(output, 'movements')).sort();
    const day = days[Math.floor(days.length / 2)]!.slice('day='.length);
    const some = folder.at(`${name}-some`);
    await exported(data, 'movements', some, '--from', `${day}T17:00:00Z`, '--to', day);
    expect(readdirSync(join(some, 'movements'))).toEqual([`day=${day}`]);
    const file = (of: string): string => join(of, 'movements', `day=${day}`, 'part.parquet');
    expect(readFileSync(file(some)).equals(readFileSync(file(output)))).toBe(true);
    const before = statSync(file(output)).ino;
    expect(await exported(data, 'movements', output)).toContain(`${days.length} day`);
    expect(statSync(file(output)).ino).toBe(before);
  });
});

describe('an exported file', () => {
  it('has exact decimals and UTC times for readers of Parquet', async () => {
    const described = await query(
      `SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet('${folder.at('tokens 31-files')}/movements/*/part.parquet'))`,
    );
    const types = Object.fromEntries(described.map(({ column_name, column_type }) => [column_name, column_type]));
    expect(types).toMatchObject({
      record_time: 'TIMESTAMP WITH TIME ZONE',
      change_total: 'DECIMAL(38,10)',
      minted: 'DECIMAL(38,10)',
      migration_id: 'BIGINT',
      party_id: 'VARCHAR',
      day: 'DATE',
    });
  });

  it('is refused where a sum has more digits than its decimals, by a message that names the row', async () => {
    const items = [...randomLedger(oddLedger(33, { updates: 300, shares: { wideAmount: 0.6 } }))];
    const feed = folder.writeLines(
      'wide.ndjson',
      linesOf(
        items.flatMap((item) => importsOfOne(item)),
        'scan',
      ),
    );
    await replayInto(folder.at('wide'), [feed], { seal: true });
    const { code, stderr } = await write(folder.at('wide'), 'totals', folder.at('wide-files'));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^holdfast: --format parquet: (un)?locked|total of the row/),
    });
    expect(stderr).toMatch(
      /\{"migration_id":\d+,"party_id":"[^"]+","record_time":"[^"]+"\} is \d{29,}\.\d{10}, expected/,
    );
    expect(globSync(join(folder.at('wide-files'), '**/*part*'))).toEqual([]);
    await exported(folder.at('wide'), 'totals', folder.at('wide-files'), '--format', 'csv');
    using service = openHoldings(folder.at('wide'));
    const wanted = await exportedAnswers(service.app, 'totals', await migrationsOf(folder.at('wide')));
    expect(comparable(csvRows(folder.at('wide-files'), 'totals'))).toEqual(comparable(wanted));
  });

  it('has several groups of rows where they are many', async () => {
    const updates = Array.from({ length: 525 }, (_, i) => {
      const creates = Array.from({ length: 40 }, (_, j) => `+c${i * 40 + j} o${j} ${i + 1}`);
      return `01:00:00.${String(i).padStart(6, '0')} =u${i} : ${creates.join(' ; ')}`;
    });
    await replayInto(folder.at('many'), [
      folder.writeLines('many.ndjson', linesOf(parseLedger(updates.join('\n')), 'scan')),
    ]);
    for (const format of ['csv', 'parquet'])
      await exported(folder.at('many'), 'movements', folder.at('many-files'), '--format', format);
    const groups = `SELECT DISTINCT row_group_id FROM parquet_metadata('${folder.at('many-files')}/movements/*/part.parquet')`;
    expect(await query(groups)).toHaveLength(2);
    const wanted = comparable(csvRows(folder.at('many-files'), 'movements'));
    expect(wanted).toHaveLength(21_000);
    expect(comparable(await parquetRows(folder.at('many-files'), 'movements'))).toEqual(wanted);
  });

  it.each(['csv', 'parquet'])('is named where the disk has no room for it: %s', async (format) => {
    const output = folder.at(`small-${format}`);
    const args = ['export', '--data', folder.at('many'), '--what', 'movements', '--output', output, '--format', format];
    const { code, stderr } = await runProgram(args, { limits: 'ulimit -f 100' });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        `holdfast: ${output}/movements/day=\\S+/part\\.${format}: the disk is full, or a limit of file size`,
      ),
    });
    expect(globSync(join(output, '**/*part*'))).toEqual([]);
  });

  it('of another directory is not replaced', async () => {
    const output = folder.at('story-files');
    const { code, stderr } = await write(folder.at('wide'), 'snapshots', output);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('was exported from another data directory'),
    });
  });

  it('is not written without a snapshot, or where no folder can be', async () => {
    await replayInto(folder.at('empty'), [folder.writeLines('nothing.ndjson', [])]);
    expect(await write(folder.at('empty'), 'totals', folder.at('none'))).toMatchObject({ code: 4 });
    expect(await write(folder.at('wide'), 'totals', '/dev/null/none')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^holdfast: --output: \/dev\/null\/none\/totals cannot be made/),
    });
    expect(await write(folder.at('missing'), 'totals', folder.at('none'))).toMatchObject({ code: 2 });
  });
});

/** Names and bytes of all files below a folder. */
function filesBelow(path: string): Record<string, string> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name).slice(path.length),
      readFileSync(join(parentPath, name), 'base64'),
    ]),
  );
}

/** Has a function of node:fs kill the process when it is called for the n-th time. */
const killedAt = (name: string, n: number): string =>
  `data:text/javascript,${encodeURIComponent(`
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const real = fs.${name};
    let calls = 0;
    fs.${name} = (...args) => (++calls === ${n} ? process.kill(process.pid, 'SIGKILL') : real(...args));
    syncBuiltinESMExports();
  `)}`;

/** Has another export run, to its end, when a file of this one has only its first bytes. */
const beganTwice = (args: readonly string[]): string =>
  `data:text/javascript,${encodeURIComponent(`
    import { spawnSync } from 'node:child_process';
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const real = fs.writeFileSync;
    fs.writeFileSync = (file, text, options) => {
      if (options?.flag === 'a') {
        fs.writeFileSync = real;
        syncBuiltinESMExports();
        spawnSync(process.execPath, ${JSON.stringify(args)});
      }
      real(file, text, options);
    };
    syncBuiltinESMExports();
  `)}`;

describe('an export that is killed', () => {
  const data = folder.at('growing');
  const lines = linesOf(
    [...randomLedger(oddLedger(34, { ...NARROW, updates: 400 }))].flatMap((item) => importsOfOne(item)),
    'scan',
  );

  it.each([
    ['rmSync', 5],
    ['renameSync', 4],
    ['writeFileSync', 12],
  ] as const)('at the %s number %i leaves whole files, and goes on', async (name, n) => {
    const [whole, cut] = [folder.at(`whole-${name}`), folder.at(`cut-${name}`)];
    await replayInto(data, [folder.writeLines('growing.ndjson', lines)]);
    await exported(data, 'movements', whole);
    const args = ['export', '--data', data, '--what', 'movements', '--output'];
    expect(await runProgram([...args, cut], { preload: killedAt(name, n) })).toMatchObject({ signal: 'SIGKILL' });
    const wanted = filesBelow(whole);
    const parts = Object.entries(filesBelow(cut)).filter(([path]) => path.endsWith('/part.parquet'));
    expect(parts.length).toBeGreaterThan(0);
    expect(parts.length).toBeLessThan(readdirSync(join(whole, 'movements')).length);
    for (const [path, bytes] of parts) expect(bytes === wanted[path], path).toBe(true);
    expect(await runProgram([...args, cut])).toMatchObject({ code: 0 });
    expect(filesBelow(cut)).toEqual(wanted);
  });

  it.each(['csv', 'parquet'])(
    'or beside another one into the same folder never has a part of its rows: %s',
    async (format) => {
      const [whole, both] = [folder.at(`one-${format}`), folder.at(`both-${format}`)];
      await replayInto(data, [folder.writeLines('growing.ndjson', lines)]);
      await exported(data, 'movements', whole, '--format', format);
      const args = ['export', '--data', data, '--what', 'movements', '--output', both, '--format', format];
      expect(await runProgram(args, { preload: beganTwice([MAIN, ...args]) })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is written by another export too; run one at a time'),
      });
      expect(filesBelow(both)).toEqual(filesBelow(whole));
    },
  );

  it('or finds no room for what is beside a file writes that file again', async () => {
    const [whole, cut] = [folder.at('room'), folder.at('no-room')];
    for (const output of [whole, cut]) await exported(data, 'snapshots', output);
    for (const file of globSync(join(cut, '**/_part.parquet.json'))) writeFileSync(file, '');
    expect(await exported(data, 'snapshots', cut)).not.toContain('had all rows');
    expect(filesBelow(cut)).toEqual(filesBelow(whole));
  });

  it('or read while more is written has the rows of the moment at which it began', async () => {
    const live = folder.at('live');
    await replayInto(live, [folder.writeLines('first.ndjson', lines.slice(0, lines.length / 2))], SMALL_EPOCHS);
    const eventsIn = (reader: ReturnType<typeof openExport>): Generator<Row>[] =>
      reader.migrations.movements.map(function* (migration) {
        for (const fact of eachFact(migration)) yield movementEvent(fact);
      });
    using before = openExport(live);
    const wanted = eventsIn(before).flatMap((events) => [...events]);
    using reader = openExport(live, { rowsAtOnce: 2, balancesMax: 2 });
    const found: Row[] = [];
    for (const events of eventsIn(reader))
      for (const event of events) {
        found.push(event);
        // In the open interval, too.
        if (found.length === wanted.length - 5)
          await replayInto(live, [folder.writeLines('growing.ndjson', lines)], SMALL_EPOCHS);
      }
    expect(found).toEqual(wanted);
    using after = openExport(live);
    expect(eventsIn(after).flatMap((events) => [...events]).length).toBeGreaterThan(wanted.length + 50);
  });

  it('or comes before the end of a day writes that day again, and no other', async () => {
    const [half, output] = [folder.at('half'), folder.at('grown')];
    await replayInto(half, [folder.writeLines('half.ndjson', lines.slice(0, lines.length / 2))]);
    await exported(half, 'totals', output);
    const days = readdirSync(join(output, 'totals')).sort();
    const inode = (day: string): number => statSync(join(output, 'totals', day, 'part.parquet')).ino;
    const before = days.map(inode);
    await replayInto(half, [folder.writeLines('growing.ndjson', lines)]);
    expect(await exported(half, 'totals', output)).toContain(`${days.length - 1} days had all rows`);
    expect(days.map(inode).slice(0, -1)).toEqual(before.slice(0, -1));
    expect(inode(days.at(-1)!)).not.toBe(before.at(-1));
    await exported(half, 'totals', folder.at('fresh'));
    expect(filesBelow(output)).toEqual(filesBelow(folder.at('fresh')));
  });
});
