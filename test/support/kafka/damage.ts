import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** Where the batch with that number begins in a partition's file, and where it ends. */
export function batchIn(segment: string, number: number): { readonly start: number; readonly bytes: Buffer } {
  const file = readFileSync(segment);
  let start = 0;
  for (let left = number; left > 0; left--) start += 12 + file.readInt32BE(start + 8);
  return { start, bytes: file.subarray(start, start + 12 + file.readInt32BE(start + 8)) };
}

/**
 * Flips a bit of a batch on the broker's disk, at a place in it. The broker sends its files as they are, so that it need not be
 * started again; where it was killed, it would find the damage itself and cut its file off.
 */
export function flipBit(segment: string, number: number, place: (batch: Buffer) => number): void {
  const { start, bytes } = batchIn(segment, number);
  const at = place(bytes);
  if (at < 0 || at >= bytes.length) throw new Error(`the batch has no byte ${at}`);
  const file = openSync(segment, 'r+');
  writeSync(file, Buffer.from([bytes[at]! ^ 0x01]), 0, 1, start + at);
  closeSync(file);
}
