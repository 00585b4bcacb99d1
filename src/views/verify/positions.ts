import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import type { Micros } from '../../ledger/time.ts';
import { IMPORT_TIME } from '../write/positions.ts';
import { type Differs, differsIn, isLedgerTime, type VerifyContext } from './types.ts';

const SHA256_BYTES = 32;

interface PositionRow {
  readonly lane: string;
  readonly start: string | null;
  readonly cursor: string;
  readonly sha256: Buffer | null;
  readonly checkpoints: string;
  readonly migrationId: bigint | null;
  readonly recordTime: bigint | null;
  /** 1 where the batch before it could not be read, and was dropped. */
  readonly isBehindBatch: bigint;
}

/** Where each lane was read to; those of a source that resumes are there from when it was first seen. */
export function verifyPositions(context: VerifyContext): void {
  const { db } = context;
  const differs = differsIn(context, 'position');
  const rows = db.prepare<[], PositionRow>(
    `SELECT lane, start, cursor, sha256, checkpoints, furthest_migration AS migrationId, furthest_time AS recordTime,
       EXISTS (SELECT 1 FROM dead_letter AS d WHERE d.code = 'broken_batch' AND d.decision = 'dropped'
         AND d.lane = position.lane AND d.cursor = position.cursor) AS isBehindBatch FROM position`,
  );
  let resuming = 0;
  for (const row of rows.iterate()) {
    if (row.start !== null) resuming += 1;
    verifyPosition(row, (expected, found) => differs(`lane ${row.lane}: ${expected}`, found));
  }
  const feed = db.prepare<[], string | null>('SELECT feed FROM setting').pluck().get() ?? null;
  if (feed === null && resuming > 0)
    differs('no positions of a source that resumes, because setting has none (feed)', resuming);
  if (feed !== null && resuming === 0) differs(`positions of the source in setting (${feed})`, 'none');
}

function verifyPosition(row: PositionRow, differs: Differs): void {
  const { lane, start, cursor, sha256, checkpoints, migrationId, recordTime, isBehindBatch } = row;
  if (lane === '') differs('the name of a lane', 'none');
  if (cursor === '' || start === '') differs('a cursor', 'none');
  if (sha256 !== null && sha256.length !== SHA256_BYTES) differs('a SHA-256', `${sha256.length} bytes`);
  if (cursor === start && sha256 !== null) differs('no sha256, because nothing of it was applied', 'one');
  if (start !== null && cursor !== start && sha256 === null && isBehindBatch === 0n)
    differs('a sha256 of the last message applied', 'none');
  if (timesIn(checkpoints) === null) differs('checkpoint times as JSON', checkpoints);
  const isPlace = migrationId !== null && recordTime !== null && migrationId >= 0n && isPlaceTime(recordTime);
  if (!isPlace && (migrationId !== null || recordTime !== null))
    differs('the furthest place read: a migration and a time, or neither', `${migrationId} and ${recordTime}`);
}

/** An import is before every time. */
function isPlaceTime(time: bigint): boolean {
  return time === BigInt(IMPORT_TIME) || isLedgerTime(time);
}

/** The times of a JSON object that has nothing else; null where the text is no such object. */
export function timesIn(text: string): readonly Micros[] | null {
  const value = jsonOrNull(text);
  if (!isObject(value)) return null;
  const times = Object.values(value);
  return times.every(isTime) ? times : null;
}

function isTime(value: unknown): value is Micros {
  return Number.isInteger(value) && isLedgerTime(BigInt(value as number));
}
