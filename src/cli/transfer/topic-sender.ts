import { counted } from '../../counted.ts';
import { tryDecode } from '../../decode/decode-message.ts';
import { type PartitionTail, readRecords } from '../../feed/kafka/read-records.ts';
import { type ProducedRecord, recordBytes, type TopicProducer } from '../../feed/kafka/topic-producer.ts';
import { isAfter, isAhead, type ScanPosition } from '../../feed/scan/scan-position.ts';
import type { Message, SourceLogger } from '../../feed/source.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import type { Decoded } from '../../ledger/update.ts';
import { Refusal } from '../../refusal.ts';

/** Bytes not sent yet, over all partitions. */
const BATCH_BYTES_MAX = 8_000_000;

/**
 * Sends messages to the partitions of their synchronizers, and to each partition only what is behind its end. `mayRepeat`: what is
 * added may be in the topic already. Throws a Refusal for a topic that ends within a snapshot import.
 */
export function createSender(
  producer: TopicProducer,
  tails: ReadonlyMap<number, PartitionTail>,
  { mayRepeat, logger }: { readonly mayRepeat: boolean; readonly logger: Pick<SourceLogger, 'info'> },
) {
  const { topic, partitions, kafka } = producer;
  const ends = new Map([...tails].map(([partition, tail]) => [partition, createPartitionEnd(tail)]));
  if ([...ends.values()].some(({ isInImport }) => isInImport))
    throw new Refusal(
      `topic ${topic} ends within a snapshot import, which was not sent whole, and readers apply nothing of it: ` +
        'delete the topic, or send to another one; of a large network, fetch --output FILE first, and then produce FILE',
    );
  const known = new Map<string, number>();
  for (const [partition, { values }] of tails) for (const value of values) note(partition, value);
  let isAllKnown = partitions === 1 || [...tails.values()].every(({ isWhole }) => isWhole);
  /** Synchronizers in a migration that were sent or left out. */
  const begun = new Set<string>();
  let records: ProducedRecord[] = [];
  let bytes = 0;
  let [taken, added, sent] = [0, 0, 0];

  function note(partition: number, value: Uint8Array | null): void {
    const synchronizerId = partitions === 1 ? null : synchronizerOf(value);
    if (synchronizerId === null) return;
    const other = known.get(synchronizerId) ?? partition;
    known.set(synchronizerId, partition);
    if (other !== partition)
      throw new Refusal(
        `topic ${topic} has messages of ${synchronizerId} in partitions ${Math.min(other, partition)} and ` +
          `${Math.max(other, partition)}, so their order is not known: send to another topic`,
      );
  }

  /** A checkpoint goes to every partition, what names no synchronizer to the first, and each synchronizer to one of its own. */
  async function partitionsOf(decoded: Decoded | null, value: Uint8Array | null): Promise<readonly number[]> {
    const all = Array.from({ length: partitions }, (_, partition) => partition);
    if (decoded?.kind === 'checkpoint' || decoded?.kind === 'import marker') return all;
    const synchronizerId = synchronizerNamed(decoded, value);
    if (synchronizerId === null || partitions === 1) return [0];
    if (!isAllKnown && !known.has(synchronizerId)) {
      logger.info({ topic, synchronizerId }, 'reading the topic to see which partition has this synchronizer');
      const fromStart = ({ low }: { low: number }): number => low;
      await readRecords(kafka, topic, fromStart, (partition, values) => {
        for (const value of values) note(partition, value);
      });
      isAllKnown = true;
    }
    const taken = new Set(known.values());
    const partition = known.get(synchronizerId) ?? all.find((each) => !taken.has(each));
    if (partition !== undefined) {
      known.set(synchronizerId, partition);
      return [partition];
    }
    throw new Refusal(
      `topic ${topic} has ${counted(partitions, 'partition')}, each with a synchronizer of its own, and none for ` +
        `${synchronizerId}: send to a topic with more partitions, or with a single one`,
    );
  }

  async function flush(): Promise<void> {
    if (records.length > 0) await producer.send(records);
    [records, bytes] = [[], 0];
    sent = added;
  }

  return {
    /** How many of the first messages the brokers have, without those left out; a checkpoint counts once. */
    get sent(): number {
      return sent;
    },
    /** How many were not sent because the topic has them. */
    get leftOut(): number {
      return taken - added;
    },
    flush,
    /** `origin`: for errors, such as a file. */
    async add({ bytes: value, offset, overlong }: Pick<Message, 'bytes' | 'offset' | 'overlong'>, origin: string) {
      if (overlong !== undefined)
        throw new Error(`${origin}, message ${offset} is ${overlong.length} bytes long: no consumer would accept it`);
      const decoded = decode(value);
      const [knownBefore, begunBefore] = [known.size, begun.size];
      const all = await partitionsOf(decoded, value);
      if (partitions > 1 && decoded?.kind === 'update') begun.add(`${decoded.migrationId} ${decoded.synchronizerId}`);
      const isAlone = known.size > knownBefore || begun.size > begunBefore || decoded?.kind === 'import marker';
      const lacking = all.filter((partition) => !mayRepeat || ends.get(partition)?.lacks(decoded) !== false);
      taken += 1;
      if (lacking.length === 0) return;
      const size = recordBytes(value) * lacking.length;
      // The first update of a synchronizer is stored before any later message, so an empty partition lacks no update after a kill.
      // So is its first update in a migration: a partition that ends in an earlier one lacks none either.
      if (bytes > 0 && (isAlone || bytes + size > BATCH_BYTES_MAX)) await flush();
      // The first partition has the imports: its marker comes last, so after a kill it ends within the import.
      for (const partition of lacking.toReversed()) records.push({ partition, value });
      bytes += size;
      added += 1;
      if (isAlone) await flush();
    },
  };
}

export function synchronizerOf(value: Uint8Array | null): string | null {
  return synchronizerNamed(decode(value), value);
}

/** The wire formats' field, for messages that are ignored or cannot be read, but must keep their order. */
const SYNCHRONIZER_FIELD = /"synchronizer(?:_i|I)d"\s*:\s*"([^"\\]{1,300})"/;
/** The field is near the start or the end; a broken message may be megabytes. */
const SEARCHED_CHARS_MAX = 100_000;

function synchronizerNamed(decoded: Decoded | null, value: Uint8Array | null): string | null {
  if (decoded?.kind === 'update') return decoded.synchronizerId || null;
  if (value === null || decoded?.kind === 'checkpoint' || decoded?.kind === 'import marker') return null;
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8', 0, SEARCHED_CHARS_MAX);
  return SYNCHRONIZER_FIELD.exec(text)?.[1] ?? null;
}

/** Null for what cannot be decoded, which is sent as it is: its readers decide. */
function decode(value: Uint8Array | null): Decoded | null {
  const decoded = value && tryDecode(value, { migrationId: 0 });
  return decoded instanceof BadUpdate ? null : decoded;
}

/** The migration that a message names; null where it names none, as in format B. */
function migrationNamed(decoded: Decoded | null): number | null {
  if (decoded === null || decoded.kind === 'ignored') return null;
  return decoded.kind === 'import marker' || decoded.format === 'scan' ? decoded.migrationId : null;
}

/**
 * When a message was, on each lane that it names, a synchronizer in a migration; imports are before all of their migration.
 * `migration`: the last one that its partition names, which format B continues; where that is null, only times are compared.
 */
function momentsOf(
  decoded: Decoded | null,
  migration: number | null,
): readonly (ScanPosition & { readonly lane: string })[] {
  if (decoded === null || decoded.kind === 'ignored') return [];
  const migrationId = migration === null ? 0 : (migrationNamed(decoded) ?? migration);
  const times = decoded.kind === 'update' ? [{ ...decoded, recordTime: decoded.recordTime ?? 0 }] : decoded.times;
  const moments = times.map(({ synchronizerId, recordTime }) => {
    return { migrationId, recordTime, lane: `${migrationId} ${synchronizerId}` };
  });
  // What cannot be yet says nothing of what is behind it.
  return moments.filter((moment) => !isAhead(moment, Date.now()));
}

/** Where a partition ends, on each lane: a repeat of what is there lies within the last moment. Other lanes have nothing behind the first record. */
function createPartitionEnd({ values, isWhole }: PartitionTail) {
  const byLane = new Map<string, ScanPosition>();
  let ofOthers: ScanPosition | null = null;
  let migration: number | null = null;
  let isInImport = false;
  for (const value of values) {
    const decoded = decode(value);
    migration = migrationNamed(decoded) ?? migration;
    if (decoded?.kind === 'import marker') {
      byLane.clear();
      ofOthers = { migrationId: decoded.migrationId, recordTime: decoded.recordTime };
    }
    for (const moment of momentsOf(decoded, migration)) {
      if (!isWhole) ofOthers ??= moment;
      const known = byLane.get(moment.lane);
      if (known === undefined || isAfter(moment, known)) byLane.set(moment.lane, moment);
    }
    if (decoded !== null && decoded.kind !== 'ignored')
      isInImport = decoded.kind === 'update' && decoded.seed !== undefined;
  }
  let wasBehind = true;

  return {
    isInImport,
    /**
     * Whether to send a message. Those of equal times are sent again where several updates may have them: in format B, and imports.
     * What says no time is as of the message before it.
     */
    lacks(decoded: Decoded | null): boolean {
      const moments =
        decoded?.kind === 'import marker'
          ? [{ recordTime: decoded.recordTime, migrationId: migration === null ? 0 : decoded.migrationId, lane: '' }]
          : momentsOf(decoded, migration);
      if (moments.length === 0) return wasBehind;
      const ends = moments.map(({ lane }) => byLane.get(lane) ?? ofOthers);
      const isNew = ends.some((end, i) => end === null || isAfter(moments[i]!, end));
      const isEqual = !isNew && ends.some((end, i) => !isAfter(end!, moments[i]!));
      wasBehind = isNew || isEqual;
      const mayShareTime =
        decoded?.kind === 'update' && (decoded.format === 'ledger-api' || decoded.recordTime === null);
      return isNew || (isEqual && mayShareTime);
    },
  };
}
