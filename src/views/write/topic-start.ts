import { newPartition } from './positions.ts';
import type { WriterState } from './state.ts';

/** What is stored of a topic before anything of it is applied. */
export interface TopicStart {
  /** What its positions belong to. */
  readonly identity: string;
  /** The first offset that it held of each partition when that was first seen. */
  readonly firstOffsets: ReadonlyMap<number, number>;
}

/** Whether there is anything to note: new partitions, or a topic of which nothing is applied yet. */
export function isNews(state: WriterState, { identity, firstOffsets }: TopicStart): boolean {
  const isKnown = [...firstOffsets.keys()].every((partition) => state.partitions.has(partition));
  return state.feed !== identity || !isKnown || !isBegun(state);
}

/**
 * Begins the partitions that are new. Synchronizers known before anything of the topic is applied come from files: the topic
 * must overlap with what they hold (PossibleGap).
 */
export function noteTopicStart(state: WriterState, { identity, firstOffsets }: TopicStart, source: string): void {
  if (state.feed !== null && state.feed !== identity)
    throw new Error(`the views follow ${state.feed}, not ${identity}`);
  state.feed = identity;
  for (const [partition, firstOffset] of firstOffsets) {
    if (!state.partitions.has(partition)) state.partitions.set(partition, newPartition(source, firstOffset));
  }
  if (isBegun(state)) return;
  for (const migration of state.migrations.values()) {
    for (const last of migration.synchronizers.values()) {
      last.unseen = true;
      last.changed = true;
    }
  }
}

/** Whether anything of the topic was applied. */
function isBegun({ partitions }: WriterState): boolean {
  return [...partitions.values()].some(
    ({ firstOffset, nextOffset }) => firstOffset !== null && nextOffset > firstOffset,
  );
}
