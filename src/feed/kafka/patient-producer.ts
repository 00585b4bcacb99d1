import { Refusal } from '../../refusal.ts';
import { retry } from '../../retry.ts';
import type { SourceLogger } from '../source.ts';
import { ENDS_LEAST } from './ends.ts';
import { RETRY_PRODUCING } from './errors.ts';
import type { ProducedRecord } from './requests.ts';
import {
  openSoleProducer,
  openSoleTopic,
  type RecordProducer,
  type SoleProducer,
  type TopicToWrite,
} from './sole-producer.ts';

export interface PatientProducerOptions extends TopicToWrite {
  readonly logger: SourceLogger;
  /** Aborts waiting for brokers that went away. */
  readonly signal: AbortSignal;
  /** For how long to wait for brokers that were there and went away. */
  readonly retryForMs?: number;
}

/** Enough for a batch over a slow network; a process that died holds readers back for so long. */
const TRANSACTION_TIMEOUT_MS = 120_000;
/** How often a long step reports that it is still waiting. */
const NOTICE_MS = 5_000;

/**
 * A sole producer for records that cannot be had again. It waits for brokers that go away, looks whether they have what was being
 * sent, and sends that only if they do not. Its `ends` are to be asked for before anything is sent.
 */
export async function openPatientProducer(options: PatientProducerOptions): Promise<RecordProducer> {
  const { topic: name, logger, signal, retryForMs: forMsMax = RETRY_PRODUCING.forMsMax } = options;
  const brokers = options.connection.brokers.join(',');
  const withNotice = async <Result>(step: Promise<Result>, notice: string): Promise<Result> => {
    const timer = setInterval(() => logger.info({ topic: name }, notice), NOTICE_MS);
    try {
      return await step;
    } finally {
      clearInterval(timer);
    }
  };
  const topic = await withNotice(openSoleTopic(options), `connecting to Kafka at ${brokers}`);
  let producer: SoleProducer | null = null;
  /** The last that is known to be in each partition. */
  const known = new Map<number, Uint8Array>();
  /** False where a producer has failed, and after it another process may have written. */
  let isCertain = true;

  /** Retries a step and reports that it waits: for brokers that are gone, or for one that accepts connections and never answers. */
  const retried = <Result>(step: (sole: SoleProducer) => Promise<Result>, notice: string): Promise<Result> =>
    retry({ ...RETRY_PRODUCING, forMsMax }, () => withNotice(attempt(step), notice), {
      signal,
      onFailure: ({ error, retryInMs, leftMs }) => {
        const waits = `waiting for it, for ${Math.ceil(leftMs / 1000)} s at most`;
        logger.warn({ topic: name, err: error, retryInMs }, `${error.message}; ${waits}`);
      },
    });

  async function attempt<Result>(step: (sole: SoleProducer) => Promise<Result>): Promise<Result> {
    try {
      producer ??= await openSoleProducer(topic, { timeoutMs: TRANSACTION_TIMEOUT_MS });
      return await step(producer);
    } catch (error) {
      void producer?.[Symbol.asyncDispose]();
      producer = null;
      isCertain = false;
      throw error;
    }
  }

  /** Whether what was being sent when a producer failed is there. What repeats the end that was there before counts as there too. */
  async function isThere(sole: SoleProducer, records: readonly ProducedRecord[]): Promise<boolean> {
    const ends = await sole.ends();
    const parts = Map.groupBy(records, ({ partition }) => partition);
    // Null values mean nothing: those alone may be there twice.
    const sent = [...parts].map(([partition, of]) => ({ partition, values: of.flatMap(({ value }) => value ?? []) }));
    const withValues = sent.filter(({ values }) => values.length > 0);
    const isEnd = ({ partition, values }: { partition: number; values: Uint8Array[] }): boolean => {
      const last = values.slice(-ENDS_LEAST);
      const held = (ends.get(partition) ?? []).slice(-last.length);
      return held.length === last.length && held.every((value, i) => value.equals(last[i]!));
    };
    if (withValues.length > 0 && withValues.every(isEnd)) return true;
    const isAsKnown = ([partition, values]: [number, readonly Buffer[]]): boolean => {
      const last = known.get(partition);
      return last !== undefined && values.at(-1)?.equals(last) === true;
    };
    if (ends.size === known.size && [...ends].every(isAsKnown)) return false;
    throw new Refusal(
      `another process has written to topic ${name}, and only one may: it ends with other messages than were sent`,
    );
  }

  return {
    partitions: topic.partitions,
    partitionsByName: (nameOf, { all }) =>
      retried(
        (sole) => sole.partitionsByName(nameOf, { all }),
        `reading topic ${name} to see which partition has which synchronizer`,
      ),
    async ends() {
      const ends = await retried((sole) => sole.ends(), `reading where topic ${name} ends`);
      for (const [partition, values] of ends) if (values.length > 0) known.set(partition, values.at(-1)!);
      isCertain = true;
      return ends;
    },
    async send(records) {
      await retried(async (sole) => {
        if (isCertain || !(await isThere(sole, records))) await sole.send(records);
        isCertain = true;
      }, `waiting for Kafka at ${brokers} to answer`);
      for (const { partition, value } of records) if (value !== null) known.set(partition, value);
    },
    async [Symbol.asyncDispose]() {
      await producer?.[Symbol.asyncDispose]();
    },
  };
}
