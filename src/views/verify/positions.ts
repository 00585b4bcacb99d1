import { LEDGER_TIME_MAX } from '../../ledger/time.ts';
import { IMPORT_TIME } from '../write/positions.ts';
import type { VerifyContext } from './types.ts';

const SHA256_BYTES = 32;

interface PositionRow {
  readonly partition: bigint;
  readonly firstOffset: bigint | null;
  readonly nextOffset: bigint;
  readonly sha256: Buffer | null;
  readonly checkpoints: string;
  readonly migrationId: bigint | null;
  readonly recordTime: bigint | null;
}

/** Where each partition was read to; those of a topic are there from when the topic was first seen. */
export function verifyPositions({ db, report }: VerifyContext): void {
  const differs = (expected: string, found: string): void =>
    report({ table: 'position', owner: null, snapshot: null, expected, found });
  const rows = db
    .prepare<[], PositionRow>(
      `SELECT partition, first_offset AS firstOffset, next_offset AS nextOffset, sha256, checkpoints,
         furthest_migration AS migrationId, furthest_time AS recordTime FROM position`,
    )
    .safeIntegers();
  let ofTopic = 0;
  for (const row of rows.iterate()) {
    if (row.partition >= 0n) ofTopic += 1;
    verifyPosition(row, (expected, found) => differs(`partition ${row.partition}: ${expected}`, found));
  }
  const feed = db.prepare<[], string | null>('SELECT feed FROM setting').pluck().get() ?? null;
  if (feed === null && ofTopic > 0) differs('no positions of a topic, for setting has none (feed)', String(ofTopic));
  if (feed !== null && ofTopic === 0) differs(`positions of the topic in setting (${feed})`, 'none');
}

function verifyPosition(row: PositionRow, differs: (expected: string, found: string) => void): void {
  const { partition, nextOffset, sha256, checkpoints, migrationId, recordTime } = row;
  if (partition < -1n) differs('a partition from -1 on', String(partition));
  if (nextOffset < 0n) differs('next_offset >= 0', String(nextOffset));
  if (sha256 !== null && sha256.length !== SHA256_BYTES) differs('a SHA-256', `${sha256.length} bytes`);
  if (partition >= 0n) verifyFirstOffset(row, differs);
  else if (row.firstOffset !== null)
    differs('no first_offset: files are read from their start', String(row.firstOffset));
  if (!isTimes(checkpoints)) differs('checkpoint times as JSON', checkpoints);
  const isPlace = migrationId !== null && recordTime !== null && migrationId >= 0n && isPlaceTime(recordTime);
  if (!isPlace && (migrationId !== null || recordTime !== null))
    differs('the furthest place read: a migration and a time, or neither', `${migrationId} and ${recordTime}`);
}

/** Of a partition of a topic: its last message is known once there is one. */
function verifyFirstOffset(
  { firstOffset, nextOffset, sha256 }: PositionRow,
  differs: (expected: string, found: string) => void,
): void {
  if (firstOffset === null || firstOffset < 0n) return differs('first_offset >= 0', String(firstOffset));
  if (nextOffset < firstOffset) differs(`next_offset from first_offset, ${firstOffset}, on`, String(nextOffset));
  if (nextOffset === firstOffset && sha256 !== null) differs('no sha256, for nothing of it was applied', 'one');
  if (nextOffset > firstOffset && sha256 === null) differs('a sha256 of the last message applied', 'none');
}

/** An import stands before every time. */
function isPlaceTime(time: bigint): boolean {
  return time === BigInt(IMPORT_TIME) || (time >= 0n && time < BigInt(LEDGER_TIME_MAX));
}

function isTimes(text: string): boolean {
  try {
    const times: unknown[] = Object.values(JSON.parse(text) as object);
    return times.every((time) => typeof time === 'number' && time >= 0 && time < LEDGER_TIME_MAX);
  } catch {
    return false;
  }
}
