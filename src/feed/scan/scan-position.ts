import { tryDecode } from '../../decode/decode-message.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { formatTime, type Micros, parseLedgerTime } from '../../ledger/time.ts';
import { IN_IMPORT } from '../network/snapshot-import.ts';
import type { Reached } from '../source.ts';

/** A position in the updates of a network, the same on each of its Scans: after all up to a record time of a migration. */
export type ScanPosition = Reached;

/** The resume token before the first update. */
export const AT_START = 'start';

/** More than --record-time-ahead-max usually is: an update between the two waits for the clock. */
const AHEAD_US_MAX = 24 * 3600 * 1_000_000;

export function tokenOf({ migrationId, recordTime }: ScanPosition): string {
  return `${migrationId} ${formatTime(recordTime)}`;
}

/** Null where there is no resume token, or one that is no position yet. */
export function parseToken(text: string | null = null): ScanPosition | null {
  if (text === null || text === AT_START || text === IN_IMPORT) return null;
  const [migrationId = '', time = ''] = text.split(' ');
  const recordTime = parseLedgerTime(time);
  if (recordTime === null || !/^\d+$/.test(migrationId))
    throw new Error(`the stored resume token of a Scan is not valid: ${text}`);
  return { migrationId: Number(migrationId), recordTime };
}

export function isAfter(a: ScanPosition, b: ScanPosition): boolean {
  return a.migrationId === b.migrationId ? a.recordTime > b.recordTime : a.migrationId > b.migrationId;
}

/** Whether no update can have this time yet. `now`: our clock, milliseconds. */
export function isAhead({ recordTime }: ScanPosition, now: number): boolean {
  return recordTime > now * 1000 + AHEAD_US_MAX;
}

export function earlier({ migrationId, recordTime }: ScanPosition, micros: Micros): ScanPosition {
  return { migrationId, recordTime: Math.max(0, recordTime - micros) };
}

/** The known one where the other is null. */
export function earlierOf(a: ScanPosition | null, b: ScanPosition | null): ScanPosition | null {
  return a === null || (b !== null && isAfter(a, b)) ? b : a;
}

/** The known one where the other is null. */
export function laterOf(a: ScanPosition | null, b: ScanPosition | null): ScanPosition | null {
  return a === null || (b !== null && isAfter(b, a)) ? b : a;
}

/** The position after the last of these lines that has one. Not that of what is no update, of a bad update, or of one whose time cannot be yet. */
export function lastPosition(lines: readonly Uint8Array[]): ScanPosition | typeof IN_IMPORT | null {
  for (const line of lines.toReversed()) {
    const decoded = tryDecode(line, { migrationId: 0 });
    if (decoded instanceof BadUpdate || decoded.kind === 'ignored' || decoded.kind === 'checkpoint') continue;
    const { recordTime, migrationId } = decoded;
    // An import of a migration that files bring has no time, and is no snapshot import.
    if (recordTime === null && decoded.kind === 'update' && decoded.seed !== undefined) return IN_IMPORT;
    if (recordTime !== null && !isAhead({ migrationId, recordTime }, Date.now())) return { migrationId, recordTime };
  }
  return null;
}

/** The DSOs that have signed the coins and rounds created in a line. */
export function dsosOf(line: Uint8Array): readonly string[] {
  const decoded = tryDecode(line, { migrationId: 0 });
  if (decoded instanceof BadUpdate || decoded.kind !== 'update') return [];
  return decoded.events.flatMap((event) => {
    if (!('dso' in event)) return [];
    const { dso, signatories } = event;
    return signatories instanceof BadUpdate || !signatories.includes(dso) ? [] : [dso];
  });
}
