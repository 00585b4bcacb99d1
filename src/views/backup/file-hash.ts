import { createHash, type Hash } from 'node:crypto';
import { appendFileSync, closeSync, fstatSync, openSync, readSync, truncateSync } from 'node:fs';

/** The last line of a backup. SQLite reads as many pages as the first one says, and nothing after them. */
const SEAL = /^\nholdfast backup sha256 ([0-9a-f]{64})\n$/;
const SEAL_BYTES = sealOf('0'.repeat(64)).length;
const READ_BYTES = 4 * 1024 * 1024;

/** Whether a file is unchanged since it was sealed: `none` where it has no seal, as after being cut off. */
export type Seal = 'whole' | 'broken' | 'none';

function sealOf(sha256: string): string {
  return `\nholdfast backup sha256 ${sha256}\n`;
}

/** Appends the SHA-256 of the file's content. It must not be written to any more. */
export function sealFile(file: string): void {
  const { hash } = hashOf(file, 0);
  appendFileSync(file, sealOf(hash.digest('hex')));
}

/** Removes a file's seal, which restores its length, and returns whether it fits. */
export function unsealFile(file: string): Seal {
  const { hash, rest, length } = hashOf(file, SEAL_BYTES);
  const sha256 = SEAL.exec(rest.toString('latin1'))?.[1];
  if (sha256 === undefined) return 'none';
  truncateSync(file, length);
  return hash.digest('hex') === sha256 ? 'whole' : 'broken';
}

/** Hashes the file without its last `restBytes`, in pieces, because it may be larger than memory. */
function hashOf(file: string, restBytes: number): { hash: Hash; rest: Buffer; length: number } {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(READ_BYTES);
  const descriptor = openSync(file, 'r');
  try {
    const length = Math.max(fstatSync(descriptor).size - restBytes, 0);
    for (let at = 0; at < length; ) {
      const read = readSync(descriptor, piece, 0, Math.min(READ_BYTES, length - at), at);
      if (read === 0) throw new Error(`${file}: became shorter while it was read`);
      hash.update(piece.subarray(0, read));
      at += read;
    }
    const read = readSync(descriptor, piece, 0, restBytes, length);
    return { hash, rest: Buffer.from(piece.subarray(0, read)), length };
  } finally {
    closeSync(descriptor);
  }
}
