/** The polynomial of Castagnoli with its bits reversed. */
const POLYNOMIAL = 0x82f63b78;
/** Bytes of one step: slicing-by-8, with one table of 256 entries for each byte. */
const STEP_BYTES = 8;
const TABLES = createTables();

/** CRC-32C (Castagnoli) of the bytes, as Kafka's record batches have it; `zlib.crc32` uses another polynomial. */
export function crc32c(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let crc = -1;
  let at = 0;
  for (const last = bytes.length - STEP_BYTES; at <= last; at += STEP_BYTES) {
    const low = crc ^ view.getInt32(at, true);
    const high = view.getInt32(at + 4, true);
    crc =
      TABLES[0x700 | (low & 0xff)]! ^
      TABLES[0x600 | ((low >>> 8) & 0xff)]! ^
      TABLES[0x500 | ((low >>> 16) & 0xff)]! ^
      TABLES[0x400 | (low >>> 24)]! ^
      TABLES[0x300 | (high & 0xff)]! ^
      TABLES[0x200 | ((high >>> 8) & 0xff)]! ^
      TABLES[0x100 | ((high >>> 16) & 0xff)]! ^
      TABLES[high >>> 24]!;
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ TABLES[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}

function createTables(): Int32Array {
  const tables = new Int32Array(STEP_BYTES * 256);
  for (let i = 0; i < 256; i++) {
    let crc = i;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[i] = crc;
  }
  for (let i = 256; i < tables.length; i++) tables[i] = (tables[i - 256]! >>> 8) ^ tables[tables[i - 256]! & 0xff]!;
  return tables;
}
