import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TopicTelemetry } from '../../../src/feed/kafka/kafka-positions.ts';
import { type KafkaSourceOptions, openKafkaSource } from '../../../src/feed/kafka/kafka-source.ts';
import type { Message, Source, SourceLogger, SourceStart } from '../../../src/feed/source.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
}

/** Keeps what was logged, for tests of what an operator sees. */
export function keepingLogger(lines: LogLine[] = []): SourceLogger & { readonly lines: readonly LogLine[] } {
  const at = (level: string) => (_: object, message: string) => void lines.push({ level, message });
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** A source that is being read. */
export interface Reading extends AsyncDisposable {
  readonly source: Source<TopicTelemetry>;
  readonly messages: readonly Message[];
  /** Where its lanes begin, as it said last; null before that. */
  readonly start: SourceStart | null;
  status(): TopicTelemetry;
  /** Resolves with what ended the reading; rejects where nothing does in time. */
  failure(): Promise<unknown>;
  until(what: string, holds: () => boolean): Promise<void>;
}

const WAIT_MAX_MS = 60_000;

/** `stores`: the source hears at once that what it handed over is stored, as the views say after each commit. */
export function startReading(
  options: Omit<KafkaSourceOptions, 'logger'> & { logger?: SourceLogger },
  { stores = true }: { stores?: boolean } = {},
): Reading {
  const source = openKafkaSource({ logger: keepingLogger(), ...options });
  const stop = new AbortController();
  const messages: Message[] = [];
  let start: SourceStart | null = null;
  const ended: { failure?: unknown } = {};
  const reading = (async () => {
    for await (const batch of source.batches(stop.signal)) {
      if ('identity' in batch) {
        start = batch;
        continue;
      }
      messages.push(...batch);
      if (stores) source.stored!(new Map(batch.map(({ lane, offset }) => [lane, String(offset + 1)])));
    }
  })().catch((error: unknown) => {
    ended.failure = error;
  });

  async function until(what: string, holds: () => boolean): Promise<void> {
    const deadline = Date.now() + WAIT_MAX_MS;
    while (!holds()) {
      if ('failure' in ended) throw ended.failure;
      if (Date.now() > deadline) throw new Error(`${what}: not so after ${WAIT_MAX_MS} ms; ${messages.length} read`);
      await sleep(10);
    }
  }

  return {
    source,
    messages,
    get start() {
      return start;
    },
    until,
    status: () => source.telemetry!(),
    async failure() {
      await Promise.race([reading, sleep(WAIT_MAX_MS, undefined, { ref: false })]);
      if (!('failure' in ended)) throw new Error(`the reading went on; ${messages.length} read`);
      return ended.failure;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reading;
    },
  };
}

/** Reads a whole topic from its start, and commits for a group of its own, unless said otherwise. */
export function readingOptions(
  address: string,
  topic: { readonly name: string },
  changes: Partial<KafkaSourceOptions> = {},
) {
  return {
    ...{ brokers: [address], ssl: null, sasl: null },
    topic: topic.name,
    group: `g-${randomUUID()}`,
    partitionIdleMs: null,
    migrationId: 0,
    stored: { identity: null, lanes: new Map() },
    ...changes,
  };
}

/** The messages read, as text; null for a tombstone. */
export function textsOf({ messages }: Reading): (string | null)[] {
  return messages.map(({ bytes }) => bytes && Buffer.from(bytes).toString());
}
