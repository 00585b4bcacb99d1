import {
  BRACE,
  BRACE_END,
  bytesOf,
  COMMA,
  plainStringEnd,
  QUOTE,
  spaceEnd,
  standsAt,
  valueEnd,
  valueStart,
} from './json-bytes.ts';

/** Reads the value at `at`, whose key (without quotes) is from `key` to `keyEnd`: the position after the value, or -1. */
export type ReadValue = (b: Buffer, at: number, key: number, keyEnd: number) => number;

const readAny: ReadValue = (b, at) => valueEnd(b, at);

/** A member that objects of one kind have, and the position of its value in the object read last. */
export class Member {
  start = 0;
  end = 0;
  readonly key: Uint8Array;
  readonly read: ReadValue;

  constructor(name: string, read = readAny) {
    this.key = bytesOf(name);
    this.read = read;
  }

  get isThere(): boolean {
    return this.end > 0;
  }

  /** Whether its value has exactly these bytes. */
  is(b: Buffer, value: Uint8Array): boolean {
    return this.end - this.start === value.length && standsAt(b, this.start, value);
  }

  /** What JSON.parse makes of it; undefined where it is not there. */
  parsed(b: Buffer): unknown {
    if (!this.isThere) return undefined;
    if (b[this.start] === QUOTE) {
      const text = b.toString('utf8', this.start + 1, this.end - 1);
      if (!text.includes('\\')) return text;
    }
    return JSON.parse(b.toString('utf8', this.start, this.end));
  }
}

/**
 * Reads the object at `at` and finds its members: the position after it, or -1. `readOther` reads the values of all others. -1 also
 * for a key with escapes, which may be that of a member, and for a member that occurs twice.
 */
export function readMembers(b: Buffer, at: number, members: readonly Member[], readOther = readAny): number {
  for (const member of members) member.end = 0;
  if (b[at] !== BRACE) return -1;
  let p = spaceEnd(b, at + 1);
  if (b[p] === BRACE_END) return p + 1;
  for (;;) {
    const keyEnd = plainStringEnd(b, p);
    const start = keyEnd < 0 ? -1 : valueStart(b, keyEnd);
    if (start < 0) return -1;
    const member = memberOf(b, p + 1, keyEnd - 1, members);
    if (member?.isThere) return -1;
    p = (member?.read ?? readOther)(b, start, p + 1, keyEnd - 1);
    if (p < 0) return -1;
    if (member !== undefined) {
      member.start = start;
      member.end = p;
    }
    p = spaceEnd(b, p);
    if (b[p] === BRACE_END) return p + 1;
    if (b[p] !== COMMA) return -1;
    p = spaceEnd(b, p + 1);
  }
}

function memberOf(b: Buffer, key: number, keyEnd: number, members: readonly Member[]): Member | undefined {
  for (const member of members) {
    if (member.key.length === keyEnd - key && standsAt(b, key, member.key)) return member;
  }
  return undefined;
}
