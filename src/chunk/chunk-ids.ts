import type { StoredId } from '../ledger/contract-id.ts';
import type { Chunk } from './chunk.ts';

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

/** SQL for an id column as text: hex digits of a packed id, a colon before any other. Reading a BLOB takes twice as long. */
export function idTextOf(column: string): string {
  return `iif(typeof(${column}) = 'blob', hex(${column}), ':' || ${column})`;
}

const HEX_DIGITS = Uint8Array.from('0123456789ABCDEF', (digit) => digit.charCodeAt(0));

/** Whether an event's contract id is the stored one that was read as `idTextOf`. */
export function isEventId(chunk: Chunk, event: number, idText: string): boolean {
  const { events, ids } = chunk;
  const start = events.idStart[event]!;
  const length = events.idLength[event]!;
  if (events.idPacked[event] === 0) return idText === `:${eventId(chunk, event)}`;
  if (idText.length !== length * 2) return false;
  for (let i = 0; i < length; i++) {
    const byte = ids[start + i]!;
    if (idText.charCodeAt(i * 2) !== HEX_DIGITS[byte >> 4]) return false;
    if (idText.charCodeAt(i * 2 + 1) !== HEX_DIGITS[byte & 15]) return false;
  }
  return true;
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
