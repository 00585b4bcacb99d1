import type { Message } from 'kafkajs';
import { hashesOf } from '../feed/kafka/kafka-record.ts';
import type { BadMessage } from './decode-batch.ts';
import { LateSeed } from './seeds.ts';

/** A bad message as it is kept in the topic of dead letters: its bytes, and in headers where it was, why, and what follows. */
export function deadLetter({ record, fault, decision }: BadMessage, topic: string): Message {
  const { partition, offset, bytes, overlong } = record;
  return {
    key: `${topic}/${partition}/${offset}`,
    value: bytes === null ? null : Buffer.from(bytes),
    headers: {
      topic,
      partition: String(partition),
      offset: String(offset),
      decision,
      code: fault instanceof LateSeed ? 'late_seed' : fault.code,
      reason: fault.message,
      // Of all of it, where only its start is kept.
      sha256: Buffer.from(hashesOf(record).at(-1)!).toString('hex'),
      ...(overlong === undefined ? {} : { length: String(overlong.length) }),
    },
  };
}
