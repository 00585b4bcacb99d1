import type { SourceStart, StoredSource } from '../source.ts';
import type { StoredTopic } from './guards.ts';

/** A topic's positions from what the views stored. */
export function storedTopic({ identity, lanes }: StoredSource): StoredTopic {
  const positions = [...lanes].map(([lane, { start, cursor, sha256 }]) => {
    return [Number(lane), { firstOffset: Number(start), nextOffset: Number(cursor), sha256 }] as const;
  });
  return { identity, positions: new Map(positions) };
}

/** What the views store of it before anything of it is applied; null before the topic was found. */
export function startOf({ identity, positions }: StoredTopic): SourceStart | null {
  if (identity === null) return null;
  return {
    identity,
    cursors: new Map([...positions].map(([of, { firstOffset }]) => [String(of), String(firstOffset)])),
  };
}
