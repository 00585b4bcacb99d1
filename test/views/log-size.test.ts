import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openForReading, openForWriting, viewsFile } from '../../src/views/store/database.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { WRITER_OPTIONS } from '../support/views/replayed.ts';

const MIB = 2 ** 20;
/** The least bound: 20,000 pages. */
const LOG_BYTES_MAX = 20_000 * 4_120;

it('the log that grew during a long read is cut to its bound by the commits after it', () => {
  using directory = temporaryDirectory();
  const db = openForWriting(directory.path, WRITER_OPTIONS);
  db.exec('CREATE TABLE filler(b BLOB)');
  const insert = db.prepare('INSERT INTO filler VALUES (zeroblob(?))');
  const logBytes = (): number => statSync(`${viewsFile(directory.path)}-wal`).size;
  const reader = openForReading(directory.path);
  reader.exec('BEGIN; SELECT count(*) FROM snapshot');
  for (let i = 0; i < 6; i++) insert.run(16 * MIB);
  expect(logBytes()).toBeGreaterThan(LOG_BYTES_MAX + 8 * MIB);
  reader.close();
  for (let i = 0; i < 2; i++) insert.run(1);
  expect(logBytes()).toBeLessThanOrEqual(LOG_BYTES_MAX);
  db.close();
});
