const PARTY_CHARS_MAX = 255;
const NAME_CHARS_MAX = 185;
const FINGERPRINT_CHARS_MAX = 68;
const CHARS = /^[A-Za-z0-9:\-_ ]+$/;

export const PARTY_EXPECTED =
  'a party id, <1-185 characters>::<1-68 characters> of letters, digits, ":", "-", "_" and space, without another "::"';

/** `<1-185 chars>::<1-68 chars>`, split at the first `::`, no second one, at most 255 characters. */
export function isPartyId(text: string): boolean {
  const nameEnd = text.indexOf('::');
  const fingerprintLength = text.length - nameEnd - 2;
  return (
    text.length <= PARTY_CHARS_MAX &&
    nameEnd >= 1 &&
    nameEnd <= NAME_CHARS_MAX &&
    fingerprintLength >= 1 &&
    fingerprintLength <= FINGERPRINT_CHARS_MAX &&
    text.indexOf('::', nameEnd + 2) === -1 &&
    CHARS.test(text)
  );
}

const HOLDING_ID_BYTES_MAX = 1024;
export const HOLDING_ID_EXPECTED = `well-formed text of at most ${HOLDING_ID_BYTES_MAX} bytes without U+0000`;

/** The id of an instrument or of an account of the token standard: its registry's own text, which may be empty. */
export function isHoldingId(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0') && Buffer.byteLength(text) <= HOLDING_ID_BYTES_MAX;
}

/** The value of a lower-case hex digit by its character code; -1 for every other character. */
const HEX_DIGIT = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code)));

/** Writes an id's packed bytes to `target`; false where it cannot be packed. One pass, because this is the hot path. */
export function packHex(id: string, target: Uint8Array, start: number): boolean {
  const { length } = id;
  if (length === 0 || length % 2 !== 0) return false;
  let at = start;
  for (let i = 0; i < length; i += 2) {
    const high = HEX_DIGIT[id.charCodeAt(i)] ?? -1;
    const low = HEX_DIGIT[id.charCodeAt(i + 1)] ?? -1;
    if (high < 0 || low < 0) return false;
    target[at++] = (high << 4) | low;
  }
  return true;
}

/** An id as SQLite keeps it: lower-case hex of even length packed in a BLOB, any other as TEXT. */
export type StoredId = Buffer | string;

export function storedId(id: string): StoredId {
  const packed = Buffer.allocUnsafe(id.length >> 1);
  return packHex(id, packed, 0) ? packed : id;
}

export function idText(stored: StoredId): string {
  return typeof stored === 'string' ? stored : stored.toString('hex');
}

const TWO_32 = 4_294_967_296;

/**
 * A 53-bit hash of migration id and contract id, by which contracts are found. Equal hashes are resolved by comparing the ids, so
 * it only has to spread well. Two 32-bit lanes of multiply and rotate over the id's bytes.
 */
export function idHash(bytes: Uint8Array, start: number, end: number, migrationId: number): number {
  let a = (0x9e3779b1 ^ migrationId) | 0;
  let b = (0x85ebca6b + (end - start)) | 0;
  let i = start;
  for (; i + 4 <= end; i += 4) {
    const word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    a = Math.imul(a ^ word, 0x85ebca6b);
    a = (a << 13) | (a >>> 19);
    b = Math.imul(b + word, 0xc2b2ae35);
    b ^= b >>> 15;
  }
  for (; i < end; i++) {
    a = Math.imul(a ^ bytes[i]!, 0x85ebca6b);
    b = Math.imul(b + bytes[i]!, 0xc2b2ae35);
    b ^= b >>> 15;
  }
  a = Math.imul(a ^ (a >>> 16) ^ b, 0x7feb352d);
  b = Math.imul(b ^ (b >>> 13) ^ a, 0x846ca68b);
  a ^= a >>> 15;
  b ^= b >>> 16;
  return (b & 0x1fffff) * TWO_32 + (a >>> 0);
}

/** The most bytes of a contract id, which has at most 255 characters. */
const scratch = Buffer.allocUnsafe(1024);

/** The hash of a contract id as a feed writes it. */
export function contractIdHash(id: string, migrationId: number): number {
  const length = packHex(id, scratch, 0) ? id.length / 2 : scratch.write(id, 0, 'utf8');
  return idHash(scratch, 0, length, migrationId);
}

/** The hash of an id as it is in a column. */
export function storedIdHash(id: StoredId, migrationId: number): number {
  return contractIdHash(idText(id), migrationId);
}
