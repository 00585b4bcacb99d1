import { BRACE_END, bytesOf, standsAt, stringEnd, valueEnd } from './json-bytes.ts';

/** Arguments of the canonical Amulet as compact JSON in the template's own order, cut at its five texts. */
const PARTS = [
  '{"dso":"',
  '","owner":"',
  '","amount":{"initialAmount":"',
  '","createdAt":{"number":"',
  '"},"ratePerRound":{"rate":"',
].map(bytesOf);
const END = bytesOf('"}}}');
const LOCKED_START = bytesOf('{"amulet":');
const LOCK = bytesOf(',"lock":');

/** Fields of a coin's spans, in order: the five texts and the lock. */
export const DSO = 0;
export const OWNER = 1;
export const AMOUNT = 2;
export const ROUND = 3;
export const RATE = 4;
export const LOCK_VALUE = 5;
export const COIN_FIELDS = 6;

const LIST_START = bytesOf('["');
const LIST_NEXT = bytesOf('","');
const LIST_END = bytesOf('"]');

/**
 * Reads an Amulet's arguments: the position behind them, or -1 where they are written in another way. Start and end of each text go
 * to `spans` from `base`.
 */
export function readAmulet(b: Uint8Array, start: number, spans: Int32Array, base: number): number {
  let p = start;
  for (let text = 0; text < PARTS.length; text++) {
    const part = PARTS[text]!;
    if (!standsAt(b, p, part)) return -1;
    p += part.length;
    spans[base + text * 2] = p;
    p = stringEnd(b, p);
    if (p < 0) return -1;
    spans[base + text * 2 + 1] = p;
  }
  return standsAt(b, p, END) ? p + END.length : -1;
}

/** The same of a LockedAmulet, whose lock may be any value. */
export function readLockedAmulet(b: Uint8Array, start: number, spans: Int32Array, base: number): number {
  if (!standsAt(b, start, LOCKED_START)) return -1;
  const amuletEnd = readAmulet(b, start + LOCKED_START.length, spans, base);
  if (amuletEnd < 0 || !standsAt(b, amuletEnd, LOCK)) return -1;
  const lock = amuletEnd + LOCK.length;
  const end = valueEnd(b, lock);
  spans[base + LOCK_VALUE * 2] = lock;
  spans[base + LOCK_VALUE * 2 + 1] = end;
  return end >= 0 && b[end] === BRACE_END ? end + 1 : -1;
}

/** Whether `["<dso>","<owner>"]` stands there: the signatories of a canonical coin. */
export function areSignatories(b: Uint8Array, start: number, end: number, spans: Int32Array, base: number): boolean {
  const dso = spans[base + DSO * 2]!;
  const dsoLength = spans[base + DSO * 2 + 1]! - dso;
  const owner = spans[base + OWNER * 2]!;
  const ownerLength = spans[base + OWNER * 2 + 1]! - owner;
  return (
    end - start === dsoLength + ownerLength + LIST_START.length + LIST_NEXT.length + LIST_END.length &&
    standsAt(b, start, LIST_START) &&
    sameBytes(b, start + LIST_START.length, dso, dsoLength) &&
    standsAt(b, start + LIST_START.length + dsoLength, LIST_NEXT) &&
    sameBytes(b, end - LIST_END.length - ownerLength, owner, ownerLength) &&
    standsAt(b, end - LIST_END.length, LIST_END)
  );
}

function sameBytes(b: Uint8Array, at: number, other: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (b[at + i] !== b[other + i]) return false;
  return true;
}
