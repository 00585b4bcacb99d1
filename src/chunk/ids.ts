import type { StoredId } from '../ledger/contract-id.ts';
import type { Chunk } from './chunk.ts';

/** Where an id is in the bytes of its chunk: columns that updates and events both have. */
interface IdColumns {
  readonly idStart: Uint32Array;
  readonly idLength: Uint32Array;
  readonly idPacked: Uint8Array;
}

/** The id in row `row` of these columns; a packed one shares the chunk's bytes. */
export function idAt({ ids }: Chunk, { idStart, idLength, idPacked }: IdColumns, row: number): StoredId {
  const bytes = Buffer.from(ids.buffer, ids.byteOffset + idStart[row]!, idLength[row]!);
  return idPacked[row] === 1 ? bytes : bytes.toString('utf8');
}

const HEX_DIGITS = Uint8Array.from('0123456789ABCDEF', (digit) => digit.charCodeAt(0));

/** Whether an event's id has that text: the upper-case hex digits of a packed id, a colon and the id of any other. */
export function isIdText(chunk: Chunk, event: number, idText: string): boolean {
  const { events, ids } = chunk;
  const start = events.idStart[event]!;
  const length = events.idLength[event]!;
  if (events.idPacked[event] === 0) return idText === `:${idAt(chunk, events, event)}`;
  if (idText.length !== length * 2) return false;
  for (let i = 0; i < length; i++) {
    const byte = ids[start + i]!;
    if (idText.charCodeAt(i * 2) !== HEX_DIGITS[byte >> 4]) return false;
    if (idText.charCodeAt(i * 2 + 1) !== HEX_DIGITS[byte & 15]) return false;
  }
  return true;
}

/** Whether two events, of one chunk or of two, name the same contract. */
export function isSameId(a: Chunk, eventA: number, b: Chunk, eventB: number): boolean {
  const [length, startA, startB] = [a.events.idLength[eventA]!, a.events.idStart[eventA]!, b.events.idStart[eventB]!];
  if (length !== b.events.idLength[eventB] || a.events.idPacked[eventA] !== b.events.idPacked[eventB]) return false;
  for (let i = 0; i < length; i++) if (a.ids[startA + i] !== b.ids[startB + i]) return false;
  return true;
}
