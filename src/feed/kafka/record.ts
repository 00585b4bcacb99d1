import { hash } from 'node:crypto';
import { LINE_BYTES_MAX, OVERLONG_HEAD_BYTES } from '../limits.ts';
import type { Message } from '../source.ts';

/** A message costs more than its bytes. */
const OVERHEAD_BYTES = 200;

/** A message of a topic, decoded once its place among the partitions is needed. */
export type KafkaRecord = { -readonly [Key in keyof Message]: Message[Key] } & { readonly partition: number };

/** A message that is too long is kept by its start, its length and its hash, as a line of a file is. */
export function recordOf(partition: number, offset: number, value: Buffer | null): KafkaRecord {
  const place = { lane: String(partition), partition, offset };
  if (value === null || value.length <= LINE_BYTES_MAX) return { ...place, bytes: value };
  const overlong = { length: value.length, sha256: sha256(value).toString('hex') };
  return { ...place, bytes: Buffer.from(value.subarray(0, OVERLONG_HEAD_BYTES)), overlong };
}

/** What it takes in memory while it waits. */
export function waitingBytesOf({ bytes }: KafkaRecord): number {
  return (bytes?.length ?? 0) + OVERHEAD_BYTES;
}

/** The hashes that the views may have stored: of an over-long message that of its start, or of all of it. */
export function hashesOf({ bytes, overlong }: KafkaRecord): readonly Uint8Array[] {
  return [sha256(bytes), ...(overlong === undefined ? [] : [Buffer.from(overlong.sha256, 'hex')])];
}

export function sha256(bytes: Uint8Array | null): Buffer {
  return hash('sha256', bytes ?? new Uint8Array(), 'buffer');
}
