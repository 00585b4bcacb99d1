import { formatTime, type Micros, parseLedgerTime } from '../../ledger/time.ts';
import type { Reached } from '../source.ts';

/** A place in the updates of a network, the same on each of its Scans: after all up to a time of a migration. */
export type ScanCursor = Reached;

/** A Scan's snapshot: it has everything up to its time, and nothing after it. */
export interface SeedPlace extends ScanCursor {
  /** The record time as the Scan writes it. */
  readonly text: string;
}

/**
 * A cursor has no synchronizer in it: an update of a second one may have the time at which a page ended, or be taken in by the
 * Scan later than others of its time. So at the end it is asked again for this much.
 */
export const OVERLAP_US = 60_000_000;

/** More than --record-time-ahead-max usually is: an update between the two waits for the clock. */
const AHEAD_US_MAX = 24 * 3600 * 1_000_000;

/** The one lane: the updates of a network are in one order. */
export const LANE = 'updates';
/** A lane without messages: its cursor is what the supply of the seed differs by, so that it is said after a restart too. */
export const SUPPLY = 'supply';

/** The cursor before the first update. */
export const AT_START = 'start';
/** The cursor within a seed: without its mark it is begun anew. */
export const IN_SEED = 'seed';

export function cursorText({ migrationId, recordTime }: ScanCursor): string {
  return `${migrationId} ${formatTime(recordTime)}`;
}

/** Null for a cursor that is no place yet. */
export function parseCursor(text: string): ScanCursor | null {
  if (text === AT_START || text === IN_SEED) return null;
  const [migrationId = '', time = ''] = text.split(' ');
  const recordTime = parseLedgerTime(time);
  if (recordTime === null || !/^\d+$/.test(migrationId))
    throw new Error(`a stored cursor of a Scan that is none: ${text}`);
  return { migrationId: Number(migrationId), recordTime };
}

export function isAfter(a: ScanCursor, b: ScanCursor): boolean {
  return a.migrationId === b.migrationId ? a.recordTime > b.recordTime : a.migrationId > b.migrationId;
}

export function isSame(a: ScanCursor | null, b: ScanCursor | null): boolean {
  return a?.migrationId === b?.migrationId && a?.recordTime === b?.recordTime;
}

/** Whether no update can have this time yet. `now`: our clock, milliseconds. */
export function isAhead({ recordTime }: ScanCursor, now: number): boolean {
  return recordTime > now * 1000 + AHEAD_US_MAX;
}

export function earlier({ migrationId, recordTime }: ScanCursor, micros: Micros): ScanCursor {
  return { migrationId, recordTime: Math.max(0, recordTime - micros) };
}

/** The one before the other; null where neither is known. */
export function earlierOf(a: ScanCursor | null, b: ScanCursor | null): ScanCursor | null {
  if (a === null || b === null) return a ?? b;
  return isAfter(a, b) ? b : a;
}

export function laterOf(a: ScanCursor | null, b: ScanCursor | null): ScanCursor | null {
  if (a === null || b === null) return a ?? b;
  return isAfter(a, b) ? a : b;
}
