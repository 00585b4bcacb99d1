import type { Database } from 'better-sqlite3';
import { messageHash } from '../../chunk/message.ts';
import type { Micros } from '../../ledger/time.ts';
import { type Stored, withChecksum } from '../store/row-checksum.ts';
import { prepareRowsAdded } from '../store/row-counts.ts';
import { lastMessages, type Segment } from './segment.ts';

/** How far one partition was read. */
export interface PartitionState {
  readonly source: string;
  /** Of a topic: where the partition began when it was first seen. Null for files, which are read from their start. */
  readonly firstOffset: number | null;
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
  readonly positions: ReadonlyMap<number, PartitionPosition>;
}

interface PartitionPosition {
  readonly firstOffset: number;
  readonly nextOffset: number;
  readonly sha256: Buffer | null;
}

export function topicPositionOf({
  feed,
  partitions,
}: {
  feed: string | null;
  partitions: ReadonlyMap<number, PartitionState>;
}): TopicPosition {
  const positions = new Map<number, PartitionPosition>();
  for (const [partition, { firstOffset, nextOffset, sha256 }] of partitions) {
    if (firstOffset !== null) positions.set(partition, { firstOffset, nextOffset, sha256 });
  }
  return { identity: feed, positions };
}

/** The time of an import among places: before every ledger time. */
export const IMPORT_TIME: Micros = -1;

/** A file, before its first message. */
export function newFile(source: string): PartitionState {
  return newState({ source, firstOffset: null, nextOffset: 1 });
}

/** A partition of a topic that is seen for the first time. */
export function newPartition(source: string, firstOffset: number): PartitionState {
  return newState({ source, firstOffset, nextOffset: firstOffset });
}

function newState(begin: Pick<PartitionState, 'source' | 'firstOffset' | 'nextOffset'>): PartitionState {
  return { ...begin, storedOffset: null, sha256: null, checkpoints: new Map(), furthest: null };
}

/** The state of a partition that was begun, as every one is before its first message is applied. */
export function partitionOf(partitions: ReadonlyMap<number, PartitionState>, partition: number): PartitionState {
  const known = partitions.get(partition);
  if (known === undefined) throw new Error(`a message of partition ${partition}, of which nothing is known yet`);
  return known;
}

/** Puts the positions behind the messages from..to of a chunk. `keepsHash`: with the hash of the last one of each partition. */
export function moveBehind(
  partitions: ReadonlyMap<number, PartitionState>,
  { chunk, from, to, hashes }: Pick<Segment, 'chunk' | 'from' | 'to' | 'hashes'>,
  { keepsHash }: { keepsHash: boolean },
): void {
  for (const [partition, i] of lastMessages(chunk, from, to)) {
    const state = partitionOf(partitions, partition);
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
  readonly firstOffset: number | null;
  readonly nextOffset: number;
  readonly sha256: Buffer | null;
  readonly checkpoints: string;
  readonly migrationId: number | null;
  readonly recordTime: number | null;
}

export function loadPartitions(db: Database): Map<number, PartitionState> {
  const rows = db.prepare<[], PositionRow>(
    `SELECT partition, source, first_offset AS firstOffset, next_offset AS nextOffset, sha256, checkpoints,
       furthest_migration AS migrationId, furthest_time AS recordTime FROM position`,
  );
  const entries = rows.all().map((row): [number, PartitionState] => {
    const { partition, source, firstOffset, nextOffset, sha256, migrationId, recordTime } = row;
    const checkpoints = new Map(Object.entries(JSON.parse(row.checkpoints) as Record<string, number>));
    const furthest = migrationId === null || recordTime === null ? null : { migrationId, recordTime };
    const stored = { source, firstOffset, nextOffset, storedOffset: nextOffset, sha256 };
    return [partition, { ...stored, checkpoints, furthest }];
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
  const insert = db.prepare('INSERT OR IGNORE INTO position VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const update = db.prepare(
    `UPDATE position SET partition = ?, source = ?, first_offset = ?, next_offset = ?, sha256 = ?, checkpoints = ?,
       furthest_migration = ?, furthest_time = ?, checksum = ? WHERE partition = ? AND next_offset = ?`,
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
    }
  };
}

/** To be called once the transaction that positions were saved in is committed: one that fails has stored nothing. */
export function settlePositions(partitions: ReadonlyMap<number, PartitionState>): void {
  for (const state of partitions.values()) state.storedOffset = state.nextOffset;
}

export function positionRow(partition: number, state: PartitionState): readonly Stored[] {
  const { source, firstOffset, nextOffset, sha256, checkpoints, furthest } = state;
  const times = JSON.stringify(Object.fromEntries(checkpoints));
  const place = [furthest?.migrationId ?? null, furthest?.recordTime ?? null];
  return withChecksum([partition, source, firstOffset, nextOffset, sha256, times, ...place]);
}
