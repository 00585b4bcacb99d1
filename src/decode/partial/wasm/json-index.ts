/**
 * AssemblyScript, compiled to WebAssembly by scripts/build-wasm.ts: TypeScript's syntax with types of the machine, and sixteen
 * bytes of a text looked at by one instruction. Checks that a message is JSON, and indexes the members of its outer objects,
 * without creating anything. Every function that reads moves `at` behind what it read, and returns false for what is no JSON, is
 * nested too deep, or has more members than the index holds.
 */
const PAGE: u32 = 65_536;
export const MESSAGE: u32 = PAGE;
/** Larger messages are rare, and are parsed in full. */
export const MESSAGE_BYTES_MAX: u32 = 16 * PAGE;
/** One page more than a message: it is read beyond its end, where a zero byte stops every function. */
export const INDEX: u32 = MESSAGE + MESSAGE_BYTES_MAX + PAGE;
export const MEMBERS_MAX: u32 = 8192;
/** Of a member: start and end of its key, with quotes; start and end of its value; the number of the member after it and its own. */
export const MEMBER_WORDS: u32 = 5;
const MEMBER_BYTES: u32 = MEMBER_WORDS * 4;
const INDEX_END: u32 = INDEX + MEMBERS_MAX * MEMBER_BYTES;

/** Members of the message, of its members that are objects, and of theirs are indexed. */
const LEVELS: i32 = 3;
const DEPTH_MAX: i32 = 64;

const TAB: u32 = 0x09;
const LINE_FEED: u32 = 0x0a;
const RETURN: u32 = 0x0d;
const SPACE: u32 = 0x20;
const QUOTE: u32 = 0x22;
const PLUS: u32 = 0x2b;
const COMMA: u32 = 0x2c;
const MINUS: u32 = 0x2d;
const POINT: u32 = 0x2e;
const DIGIT_ZERO: u32 = 0x30;
const COLON: u32 = 0x3a;
const BRACKET: u32 = 0x5b;
const BACKSLASH: u32 = 0x5c;
const BRACKET_END: u32 = 0x5d;
const SMALL_A: u32 = 0x61;
const SMALL_B: u32 = 0x62;
const SMALL_E: u32 = 0x65;
const SMALL_F: u32 = 0x66;
const SMALL_N: u32 = 0x6e;
const SMALL_R: u32 = 0x72;
const SMALL_T: u32 = 0x74;
const SMALL_U: u32 = 0x75;
const BRACE: u32 = 0x7b;
const BRACE_END: u32 = 0x7d;
/** A letter of either case with this bit is the small one. */
const SMALL: u32 = 0x20;
/** The four bytes, as a number. */
const TRUE: u32 = 0x65757274;
const ALSE: u32 = 0x65736c61;
const NULL: u32 = 0x6c6c756e;

let at: u32 = 0;
let nextMember: u32 = INDEX;

/** Indexes the value at `start` of the message; returns where it ends, or -1. */
export function index(start: u32): i32 {
  at = MESSAGE + start;
  nextMember = INDEX;
  return value(DEPTH_MAX, LEVELS) ? ((at - MESSAGE) as i32) : -1;
}

/** Where the text at `start` of the message ends; -1 for one with an escape. */
export function plainTextEnd(start: u32): i32 {
  const end = plainEnd(MESSAGE + start + 1);
  return byteAt(end) === QUOTE ? ((end + 1 - MESSAGE) as i32) : -1;
}

/** How many members were indexed. */
export function memberCount(): u32 {
  return (nextMember - INDEX) / MEMBER_BYTES;
}

function byteAt(address: u32): u32 {
  return load<u8>(address);
}

/** `levels`: of how many levels of objects from here on the members are indexed. */
function value(depth: i32, levels: i32): bool {
  switch (byteAt(at)) {
    case QUOTE:
      return text();
    case BRACE:
      return depth > 0 && object(depth - 1, levels);
    case BRACKET:
      return depth > 0 && list(depth - 1);
    case SMALL_T:
      return word(load<u32>(at) === TRUE, 4);
    case SMALL_F:
      return word(load<u32>(at + 1) === ALSE, 5);
    case SMALL_N:
      return word(load<u32>(at) === NULL, 4);
    default:
      return number();
  }
}

function object(depth: i32, levels: i32): bool {
  at++;
  skipSpace();
  if (byteAt(at) === BRACE_END) {
    at++;
    return true;
  }
  while (byteAt(at) === QUOTE) {
    if (!(levels > 0 ? indexedMember(depth, levels - 1) : member(depth))) return false;
    skipSpace();
    const after = byteAt(at++);
    if (after === BRACE_END) return true;
    if (after !== COMMA) return false;
    skipSpace();
  }
  return false;
}

function member(depth: i32): bool {
  return text() && colon() && value(depth, 0);
}

/** Its key has no escapes, so that its bytes are its text. */
function indexedMember(depth: i32, levels: i32): bool {
  const entry = nextMember;
  if (entry === INDEX_END) return false;
  nextMember += MEMBER_BYTES;
  store<u32>(entry, at - MESSAGE);
  at = plainEnd(at + 1);
  if (byteAt(at++) !== QUOTE) return false;
  store<u32>(entry, at - MESSAGE, 4);
  if (!colon()) return false;
  store<u32>(entry, at - MESSAGE, 8);
  if (!value(depth, levels)) return false;
  store<u32>(entry, at - MESSAGE, 12);
  store<u32>(entry, memberCount(), 16);
  return true;
}

/** A colon, with white space around it. */
function colon(): bool {
  skipSpace();
  if (byteAt(at++) !== COLON) return false;
  skipSpace();
  return true;
}

function list(depth: i32): bool {
  at++;
  skipSpace();
  if (byteAt(at) === BRACKET_END) {
    at++;
    return true;
  }
  while (value(depth, 0)) {
    skipSpace();
    const after = byteAt(at++);
    if (after === BRACKET_END) return true;
    if (after !== COMMA) return false;
    skipSpace();
  }
  return false;
}

function word(isThere: bool, length: u32): bool {
  at += length;
  return isThere;
}

function text(): bool {
  at = plainEnd(at + 1);
  return byteAt(at) === QUOTE ? word(true, 1) : textWithEscapes();
}

function textWithEscapes(): bool {
  while (byteAt(at) === BACKSLASH) {
    const escaped = byteAt(at + 1);
    if (escaped === SMALL_U) {
      for (let i: u32 = 2; i < 6; i++) if (!isHexDigit(byteAt(at + i))) return false;
      at += 6;
    } else if (isEscape(escaped)) {
      at += 2;
    } else {
      return false;
    }
    at = plainEnd(at);
  }
  return byteAt(at++) === QUOTE;
}

/** The first byte that ends a text or needs an escape within it: a quote, a backslash or a control character. */
function plainEnd(start: u32): u32 {
  let p = start;
  while (true) {
    const bytes = v128.load(p);
    const ends = v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(QUOTE as u8)), i8x16.eq(bytes, i8x16.splat(BACKSLASH as u8))),
      i8x16.lt_u(bytes, i8x16.splat(SPACE as u8)),
    );
    const found = i8x16.bitmask(ends);
    if (found !== 0) return p + (ctz(found) as u32);
    p += 16;
  }
}

/** Usually there is none. */
function skipSpace(): void {
  while (byteAt(at) <= SPACE && isSpace(byteAt(at))) at++;
}

function number(): bool {
  if (byteAt(at) === MINUS) at++;
  if (byteAt(at) === DIGIT_ZERO) at++;
  else if (!digits()) return false;
  if (byteAt(at) === POINT) {
    at++;
    if (!digits()) return false;
  }
  if ((byteAt(at) | SMALL) !== SMALL_E) return true;
  at++;
  if (byteAt(at) === PLUS || byteAt(at) === MINUS) at++;
  return digits();
}

/** One or more. */
function digits(): bool {
  if (!isDigit(byteAt(at))) return false;
  while (isDigit(byteAt(at))) at++;
  return true;
}

function isDigit(byte: u32): bool {
  return byte - DIGIT_ZERO < 10;
}

function isHexDigit(byte: u32): bool {
  return isDigit(byte) || (byte | SMALL) - SMALL_A < 6;
}

function isSpace(byte: u32): bool {
  return byte === SPACE || byte === LINE_FEED || byte === RETURN || byte === TAB;
}

/** Whether a backslash before it is an escape that ends with it. */
function isEscape(byte: u32): bool {
  if (byte === QUOTE || byte === BACKSLASH || byte === 0x2f) return true;
  return byte === SMALL_B || byte === SMALL_F || byte === SMALL_N || byte === SMALL_R || byte === SMALL_T;
}
