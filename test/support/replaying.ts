import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { openFileSource } from '../../src/feed/file.ts';
import { openInlineFeed } from '../../src/ingest/inline-feed.ts';
import { type ReplayOptions, type ReplayResult, replayFiles } from '../../src/ingest/replay.ts';

/** A folder of its own, gone with the scope that uses it. */
export interface Scratch extends Disposable {
  readonly path: string;
  /** Writes lines into a file there and gives its path. */
  file(name: string, lines: readonly (string | Buffer)[]): string;
}

export function scratch(): Scratch {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-'));
  return {
    path,
    file(name, lines) {
      const file = join(path, name);
      writeFileSync(file, Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')])));
      return file;
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Our clock in tests, well behind every time that random ledgers reach. */
export const CLOCK_US = Date.UTC(2030, 0, 1) * 1000;

export function replayOptions(dataDir: string, files: readonly string[]): ReplayOptions {
  return {
    dataDir,
    files,
    seal: false,
    signal: new AbortController().signal,
    snapshotPeriodUs: null,
    dso: null,
    migrationId: null,
    onBadUpdate: 'halt',
    recordTimeGapMaxUs: 400 * 86_400_000_000,
    recordTimeAheadMaxUs: 3_600_000_000,
    now: () => CLOCK_US,
    onProgress: () => {},
    openFeed: (path, migrationId) => openInlineFeed(openFileSource(path), { migrationId }),
  };
}

/** Replays files into a directory in this thread. */
export function replay(
  dataDir: string,
  files: readonly string[],
  changes: Partial<ReplayOptions> = {},
): Promise<ReplayResult> {
  return replayFiles({ ...replayOptions(dataDir, files), ...changes });
}

/** What differs between directories that hold the same: the directory's own name, the file read last, our clock. */
const OF_THE_DIRECTORY: Readonly<Record<string, readonly string[]>> = {
  setting: ['directory_id'],
  position: ['source', 'next_offset'],
  dead_letter: ['created_at', 'source'],
};

/** Every row of every table of views.db, as text that can be compared; `without` names tables to leave out. */
export function tablesOf(dataDir: string, without: readonly string[] = []): Record<string, readonly string[]> {
  const db = new DatabaseFile(join(dataDir, 'views.db'), { readonly: true });
  try {
    const names = db.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).pluck();
    const tables = names.all().filter((name) => !without.includes(name));
    return Object.fromEntries(tables.map((name) => [name, rowsOf(db, name)]));
  } finally {
    db.close();
  }
}

function rowsOf(db: DatabaseFile.Database, table: string): readonly string[] {
  const rows = db.prepare<[], Record<string, unknown>>(`SELECT * FROM "${table}"`).safeIntegers().all();
  return rows.map((row) =>
    Object.entries(row)
      .filter(([column]) => !(OF_THE_DIRECTORY[table] ?? []).includes(column))
      .map(([column, value]) => `${column}=${shown(value)}`)
      .join(' '),
  );
}

function shown(value: unknown): string {
  return Buffer.isBuffer(value) ? `x'${value.toString('hex')}'` : String(value);
}
