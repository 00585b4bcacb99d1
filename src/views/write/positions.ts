import type { Database } from 'better-sqlite3';
import { type DecodedBatch, laneAt, messageAt, sha256Of } from '../../feed/decoded-batch.ts';
import type { Reached } from '../../feed/source.ts';
import type { Micros } from '../../ledger/time.ts';
import { parseColumn } from '../store/stored-rows.ts';

/** How far one lane was read: see `position` in views-schema.ts. */
export interface LaneState {
  readonly source: string;
  readonly start: string | null;
  resumeToken: string;
  /** The resume token of the stored row, which the next commit must still find there (`preparePositions`); null: no row yet. */
  storedToken: string | null;
  sha256: Buffer | null;
  /** The newest time that a checkpoint named there, by `checkpointKey` (docs/rules.md, rule 1). */
  readonly checkpoints: Map<string, Micros>;
  /** The furthest time read there; IMPORT_TIME for imports. Null before the first. */
  furthest: Reached | null;
}

export function checkpointKey(migrationId: number, synchronizerId: string): string {
  return `${migrationId} ${synchronizerId}`;
}

/** The time of an import: before every ledger time of its migration. */
export const IMPORT_TIME: Micros = -1;

/** A lane before its first message. `start`: null where the source does not resume. */
export function newLane(source: string, { start, resumeToken }: Pick<LaneState, 'start' | 'resumeToken'>): LaneState {
  return { source, start, resumeToken, storedToken: null, sha256: null, checkpoints: new Map(), furthest: null };
}

/** The state of a lane, which exists since before its first message was applied. */
export function stateOf(lanes: ReadonlyMap<string, LaneState>, lane: string): LaneState {
  const known = lanes.get(lane);
  if (known === undefined) throw new Error(`a message of lane ${lane}, of which nothing is known yet`);
  return known;
}

/** Where a lane's position is after some messages; `sha256`: of the last of them, null where the source does not resume. */
export type Position = Pick<LaneState, 'resumeToken' | 'sha256'>;

/** The positions after some messages of a batch, by lane. */
export function positionsAfter(
  lanes: ReadonlyMap<string, LaneState>,
  batch: DecodedBatch,
  { from, to }: { from: number; to: number },
): ReadonlyMap<string, Position> {
  const positions = new Map<string, Position>();
  for (let at = to - 1; at >= from && positions.size < batch.lanes.length; at--) {
    const lane = laneAt(batch, at);
    if (positions.has(lane)) continue;
    const message = messageAt(batch, at);
    const sha256 = stateOf(lanes, lane).start === null ? null : sha256Of(batch, message);
    positions.set(lane, { resumeToken: message.resumeToken, sha256 });
  }
  return positions;
}

export function movePast(lanes: ReadonlyMap<string, LaneState>, positions: ReadonlyMap<string, Position>): void {
  for (const [lane, position] of positions) Object.assign(stateOf(lanes, lane), position);
}

/** Another process has moved the stored position, so what was applied in memory does not follow it. Nothing was written. */
export class PositionMoved extends Error {
  constructor() {
    super('the stored position is not the one that this process continued from: another process writes to these views');
    this.name = 'PositionMoved';
  }
}

type PositionRow = Pick<LaneState, 'source' | 'start' | 'resumeToken' | 'sha256'> &
  Readonly<Record<'lane' | 'checkpoints', string> & Record<'migrationId' | 'recordTime', number | null>>;

export function loadLanes(db: Database): Map<string, LaneState> {
  const rows = db.prepare<[], PositionRow>(
    `SELECT lane, source, start, cursor AS resumeToken, sha256, checkpoints,
       furthest_migration AS migrationId, furthest_time AS recordTime FROM position`,
  );
  const lanes = new Map<string, LaneState>();
  for (const { lane, migrationId, recordTime, ...row } of rows.all()) {
    const times = parseColumn<Record<string, Micros>>('position.checkpoints', row.checkpoints, JSON.parse);
    const checkpoints = new Map(Object.entries(times));
    const furthest = migrationId === null || recordTime === null ? null : { migrationId, recordTime };
    lanes.set(lane, { ...row, storedToken: row.resumeToken, checkpoints, furthest });
  }
  return lanes;
}

/**
 * Returns the function that writes positions inside the batch's transaction. Compare-and-set: a position is replaced only by a writer that continued from it, so that an earlier writer, which does not
 * know yet that it was replaced, writes nothing. Throws PositionMoved, which rolls the batch back.
 */
export function preparePositions(db: Database): (lanes: ReadonlyMap<string, LaneState>) => void {
  const remove = db.prepare('DELETE FROM position WHERE lane = ? AND cursor = ?');
  const insert = db.prepare('INSERT OR IGNORE INTO position VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const count = db.prepare<[], number>('SELECT count(*) FROM position').pluck();
  return (lanes) => {
    const known = [...lanes.values()].filter(({ storedToken }) => storedToken !== null).length;
    if (count.get() !== known) throw new PositionMoved();
    for (const [lane, { source, start, resumeToken, storedToken, sha256, checkpoints, furthest }] of lanes) {
      const times = JSON.stringify(Object.fromEntries(checkpoints));
      const reached = [furthest?.migrationId ?? null, furthest?.recordTime ?? null];
      const row = [lane, source, start, resumeToken, sha256, times, ...reached];
      const isThere = storedToken === null || remove.run(lane, storedToken).changes === 1;
      if (!isThere || insert.run(row).changes !== 1) throw new PositionMoved();
    }
  };
}

/** Called once the transaction that saved positions is committed: one that fails has stored nothing. */
export function markPositionsStored(lanes: ReadonlyMap<string, LaneState>): void {
  for (const state of lanes.values()) state.storedToken = state.resumeToken;
}

/**
 * Whether a lane that was idle while the others went on now has a message that belongs before one applied meanwhile. Otherwise the merge
 * of the lanes prevents that: a message with a later record time than all earlier ones of its lane waits for the other lanes, and
 * they for it. Only one with an earlier record time than one before it in the lane is applied late, as the feed's order requires.
 */
export function isLate(lanes: ReadonlyMap<string, LaneState>, own: LaneState, at: Reached): boolean {
  if (own.start === null || (own.furthest !== null && isBefore(at, own.furthest))) return false;
  for (const { start, furthest } of lanes.values()) {
    if (start !== null && furthest !== null && isBefore(at, furthest)) return true;
  }
  return false;
}

export function noteFurthest(state: LaneState, at: Reached): void {
  if (state.furthest !== null && !isBefore(state.furthest, at)) return;
  state.furthest = at;
}

function isBefore(a: Reached, b: Reached): boolean {
  return a.migrationId < b.migrationId || (a.migrationId === b.migrationId && a.recordTime < b.recordTime);
}
