import { hash } from 'node:crypto';
import { LINE_BYTES_MAX, OVERLONG_HEAD_BYTES } from '../limits.ts';
import { BrokenContainer, type Message } from '../source.ts';
import type { FetchedMessage } from './record-batches.ts';

/** A message costs more than its bytes. */
const OVERHEAD_BYTES = 200;

/** A message of a topic, decoded once its order among the partitions is needed. */
export type KafkaRecord = { -readonly [Key in keyof Message]: Message[Key] } & {
  readonly partition: number;
  /** Set where it stands for a batch that cannot be read, from its offset on. */
  readonly broken?: BrokenContainer;
};

/** A record of a fetch, or what stands for a batch that cannot be read. */
export type Fetched = Pick<FetchedMessage, 'offset' | 'value' | 'broken'>;

/** The records of a fetch of one partition from an offset on. Only the last one can be broken; what it stands for ends behind that offset. */
export function recordsOf(partition: number, fetched: readonly Fetched[], fetchedOffset: number): KafkaRecord[] {
  return fetched.map(({ offset, value, broken }) => {
    if (broken === undefined) return recordOf(partition, Number(offset), value);
    const next = Math.max(broken.next, fetchedOffset + 1);
    const batch = { lane: String(partition), offset: broken.offset, resumeToken: String(next) };
    const location = `offsets ${broken.offset} to ${next - 1}`;
    const error = new BrokenContainer(location, `the batch cannot be read: ${broken.reason}`, batch);
    return { lane: batch.lane, partition, offset: batch.offset, bytes: null, broken: error };
  });
}

/** A message that is too long is kept by its start, its length and its hash, as a line of a file is. */
export function recordOf(partition: number, offset: number, value: Buffer | null): KafkaRecord {
  const at = { lane: String(partition), partition, offset };
  if (value === null || value.length <= LINE_BYTES_MAX) return { ...at, bytes: value };
  const overlong = { length: value.length, sha256: sha256(value).toString('hex') };
  return { ...at, bytes: Buffer.from(value.subarray(0, OVERLONG_HEAD_BYTES)), overlong };
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
