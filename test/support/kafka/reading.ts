import { setTimeout as sleep } from 'node:timers/promises';
import { type KafkaSourceOptions, openKafkaSource } from '../../../src/feed/kafka/source.ts';
import type { TopicHeard } from '../../../src/feed/kafka/status.ts';
import type { Message, Source, SourceLogger } from '../../../src/feed/source.ts';

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
  readonly source: Source<TopicHeard>;
  readonly messages: readonly Message[];
  status(): TopicHeard;
  /** Resolves with what ended the reading; rejects where nothing does in time. */
  failure(): Promise<unknown>;
  until(what: string, holds: () => boolean): Promise<void>;
}

const PATIENCE_MS = 30_000;

/** `stores`: what is handed over is told as stored at once, as the views would after each commit. */
export function startReading(
  options: Omit<KafkaSourceOptions, 'logger'> & { logger?: SourceLogger },
  { stores = true }: { stores?: boolean } = {},
): Reading {
  const source = openKafkaSource({ logger: keepingLogger(), sessionTimeoutMs: 1_500, ...options });
  const stop = new AbortController();
  const messages: Message[] = [];
  const ended: { failure?: unknown } = {};
  const reading = (async () => {
    for await (const batch of source.batches(stop.signal)) {
      messages.push(...batch);
      if (stores) source.stored!(new Map(batch.map(({ lane, offset }) => [lane, String(offset + 1)])));
    }
  })().catch((error: unknown) => {
    ended.failure = error;
  });

  async function until(what: string, holds: () => boolean): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!holds()) {
      if ('failure' in ended) throw ended.failure;
      if (Date.now() > deadline) throw new Error(`${what}: not so after ${PATIENCE_MS} ms; ${messages.length} read`);
      await sleep(10);
    }
  }

  return {
    source,
    messages,
    until,
    status: () => source.heard!(),
    async failure() {
      await Promise.race([reading, sleep(PATIENCE_MS, undefined, { ref: false })]);
      if (!('failure' in ended)) throw new Error(`the reading went on; ${messages.length} read`);
      return ended.failure;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reading;
    },
  };
}
