import type { Database } from 'better-sqlite3';
import { FILE_PARTITION } from '../../chunk/chunk.ts';
import { messageHash } from '../../chunk/message.ts';
import type { Micros } from '../../ledger/time.ts';
import { type Stored, withChecksum } from '../store/row-checksum.ts';
import { prepareRowsAdded } from '../store/row-counts.ts';
import { lastMessages, type Segment } from './segment.ts';

/** How far one partition was read. */
export interface PartitionState {
  source: string;
  nextOffset: number;
  /** What is on disk, null for no row: the position that everything since was applied on top of. */
  storedOffset: number | null;
  sha256: Buffer | null;
  /** The newest time per `<migration> <synchronizer>` that a checkpoint named there (design.md section 6, rule 1). */
  readonly checkpoints: Map<string, Micros>;
  /** The furthest place read there; imports stand before every time of their migration. Null before the first. */
  furthest: { migrationId: number; recordTime: Micros } | null;
}

/** Where a topic is gone on from: what its positions belong to (null: no topic yet), and how far each partition is applied. */
export interface TopicPosition {
  readonly identity: string | null;
  readonly positions: ReadonlyMap<number, { readonly nextOffset: number; readonly sha256: Buffer | null }>;
}

export function topicPositionOf({
  feed,
  partitions,
}: {
  feed: string | null;
  partitions: ReadonlyMap<number, PartitionState>;
}): TopicPosition {
  const ofTopic = [...partitions].filter(([partition]) => partition !== FILE_PARTITION);
  return { identity: feed, positions: new Map(ofTopic) };
}

/** The time of an import among places: before every ledger time. */
export const IMPORT_TIME: Micros = -1;

export function newPartition(source: string, nextOffset: number): PartitionState {
  return { source, nextOffset, storedOffset: null, sha256: null, checkpoints: new Map(), furthest: null };
}

/** The state of a partition; a new one before its first message. */
export function partitionOf(
  partitions: Map<number, PartitionState>,
  partition: number,
  source: string,
): PartitionState {
  const known = partitions.get(partition);
  if (known !== undefined) return known;
  const state = newPartition(source, 0);
  partitions.set(partition, state);
  return state;
}

/** Puts the positions behind the messages from..to of a chunk. `keepsHash`: with the hash of the last one of each partition. */
export function moveBehind(
  partitions: Map<number, PartitionState>,
  { chunk, from, to, hashes }: Pick<Segment, 'chunk' | 'from' | 'to' | 'hashes'>,
  { source, keepsHash }: { source: string; keepsHash: boolean },
): void {
  for (const [partition, i] of lastMessages(chunk, from, to)) {
    const state = partitionOf(partitions, partition, source);
    state.nextOffset = chunk.updates.offset[i]! + 1;
    if (keepsHash) state.sha256 = hashes?.get(partition) ?? messageHash(chunk, i);
  }
}

/** Someone else has moved the stored position: what was applied in memory is not what follows it. Nothing was written. */
export class PositionMoved extends Error {
  constructor() {
    super('the stored position is not the one that was gone on from: another process writes to these views');
    this.name = 'PositionMoved';
  }
}

interface PositionRow {
  readonly partition: number;
  readonly source: string;
  readonly nextOffset: number;
  readonly sha256: Buffer | null;
  readonly checkpoints: string;
  readonly migrationId: number | null;
  readonly recordTime: number | null;
}

export function loadPartitions(db: Database): Map<number, PartitionState> {
  const rows = db.prepare<[], PositionRow>(
    `SELECT partition, source, next_offset AS nextOffset, sha256, checkpoints, furthest_migration AS migrationId,
       furthest_time AS recordTime FROM position`,
  );
  const entries = rows.all().map((row): [number, PartitionState] => {
    const { partition, source, nextOffset, sha256, migrationId, recordTime } = row;
    const checkpoints = new Map(Object.entries(JSON.parse(row.checkpoints) as Record<string, number>));
    const furthest = migrationId === null || recordTime === null ? null : { migrationId, recordTime };
    return [partition, { source, nextOffset, storedOffset: nextOffset, sha256, checkpoints, furthest }];
  });
  return new Map(entries);
}

/** Writes positions inside the batch's transaction. */
export type SavePositions = (partitions: ReadonlyMap<number, PartitionState>) => void;

/**
 * Compare-and-set: a position is replaced only by who went on from it, so that a writer left over from before, which
 * does not know yet that it was replaced, writes nothing at all. Throws PositionMoved, which rolls the batch back.
 */
export function preparePositions(db: Database): SavePositions {
  const insert = db.prepare('INSERT OR IGNORE INTO position VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const update = db.prepare(
    `UPDATE position SET partition = ?, source = ?, next_offset = ?, sha256 = ?, checkpoints = ?, furthest_migration = ?,
       furthest_time = ?, checksum = ? WHERE partition = ? AND next_offset = ?`,
  );
  const countAdded = prepareRowsAdded(db, 'position');
  const count = db.prepare<[], number>('SELECT count(*) FROM position').pluck();
  return (partitions) => {
    const known = [...partitions.values()].filter(({ storedOffset }) => storedOffset !== null).length;
    if (count.get() !== known) throw new PositionMoved();
    for (const [partition, state] of partitions) {
      const { storedOffset } = state;
      const row = positionRow(partition, state);
      const done = storedOffset === null ? insert.run(row) : update.run(row, partition, storedOffset);
      if (done.changes !== 1) throw new PositionMoved();
      if (storedOffset === null) countAdded(1);
      state.storedOffset = state.nextOffset;
    }
  };
}

export function positionRow(partition: number, state: PartitionState): readonly Stored[] {
  const { source, nextOffset, sha256, checkpoints, furthest } = state;
  const times = JSON.stringify(Object.fromEntries(checkpoints));
  const place = [furthest?.migrationId ?? null, furthest?.recordTime ?? null];
  return withChecksum([partition, source, nextOffset, sha256, times, ...place]);
}
