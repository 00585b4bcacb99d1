import type { Chunk } from '../ledger/pack/chunk.ts';
import type { StoredId } from '../ledger/pack/id.ts';

/** The contract id of an event, as a column holds it; shares the chunk's bytes. */
export function eventId(chunk: Chunk, event: number): StoredId {
  const { idStart, idLength, idPacked } = chunk.events;
  return sliceId(chunk.ids, idStart[event]!, idLength[event]!, idPacked[event]!);
}

export function updateIdOf(chunk: Chunk, update: number): StoredId {
  const { idStart, idLength, idPacked } = chunk.updates;
  return sliceId(chunk.ids, idStart[update]!, idLength[update]!, idPacked[update]!);
}

function sliceId(ids: Uint8Array, start: number, length: number, packed: number): StoredId {
  const bytes = Buffer.from(ids.buffer, ids.byteOffset + start, length);
  return packed === 1 ? bytes : bytes.toString('utf8');
}

/** Whether an event's contract id is that stored one; both in the same form (see pack/id.ts). */
export function isEventId(chunk: Chunk, event: number, id: StoredId): boolean {
  const length = chunk.events.idLength[event]!;
  if (typeof id === 'string') {
    return chunk.events.idPacked[event] === 0 && Buffer.byteLength(id) === length && eventId(chunk, event) === id;
  }
  return chunk.events.idPacked[event] === 1 && id.length === length && sameBytes(chunk, event, id, 0);
}

/** Whether two events, perhaps of two chunks, name the same contract. */
export function sameEventId(a: Chunk, eventA: number, b: Chunk, eventB: number): boolean {
  return (
    a.events.idPacked[eventA] === b.events.idPacked[eventB] &&
    a.events.idLength[eventA] === b.events.idLength[eventB] &&
    sameBytes(a, eventA, b.ids, b.events.idStart[eventB]!)
  );
}

function sameBytes(chunk: Chunk, event: number, other: Uint8Array, otherStart: number): boolean {
  const start = chunk.events.idStart[event]!;
  const length = chunk.events.idLength[event]!;
  for (let i = 0; i < length; i++) if (chunk.ids[start + i] !== other[otherStart + i]) return false;
  return true;
}
