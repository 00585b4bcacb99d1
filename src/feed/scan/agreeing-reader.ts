import { setTimeout as sleep } from 'node:timers/promises';
import { createPauses, type Pauses } from '../../retry.ts';
import { AnswerFailure, RETRY_ANY } from '../network/failure.ts';
import type { JsonClient } from '../network/json-client.ts';
import { FeedRefused } from '../source.ts';
import { Agreement, type Disputed } from './agreement.ts';
import { isAfter, laterOf, type ScanCursor } from './cursor.ts';
import type { ScanProgress } from './progress.ts';
import { type ReaderOptions, type ReadPage, UpdatesReader } from './reader.ts';

/** How often the clock is looked at while every Scan is waited for. */
const TURN_MS = 250;
/** After this long an update that is not told alike is what readiness says. */
const WAITING_MS = 2_000;

interface Teller {
  readonly client: JsonClient;
  reader: UpdatesReader;
  /** Resolves when the page that it was asked for is here, or it has failed. */
  asking: Promise<void> | null;
  notBefore: number;
  /** How long it is left alone after a failure; nothing waits for that. */
  readonly pauses: Pauses;
  /** When it was asked for the page that was its end; null where it may have more. */
  endAt: number | null;
  refusing: string | null;
}

export interface AgreeingOptions extends ReaderOptions {
  readonly clients: readonly JsonClient[];
  readonly needed: number;
  readonly pollIntervalMs: number;
  readonly progress: ScanProgress;
  readonly signal: AbortSignal;
}

/** Reads several Scans at once, each at its own pace, and returns what as many as are needed tell alike. */
export class AgreeingReader {
  readonly #options: AgreeingOptions;
  readonly #agreement: Agreement;
  readonly #tellers: readonly Teller[];
  #furthest: ScanCursor | null;
  #waiting: { readonly id: string | null; readonly since: number } = { id: null, since: 0 };

  constructor(options: AgreeingOptions) {
    const { clients, needed, from } = options;
    this.#options = options;
    this.#furthest = from;
    this.#agreement = new Agreement({ scans: clients.length, needed });
    this.#tellers = clients.map((client) => {
      const reader = new UpdatesReader(options);
      const pauses = createPauses(RETRY_ANY, { wait: async () => {} });
      return { client, reader, asking: null, notBefore: 0, pauses, endAt: null, refusing: null };
    });
  }

  /** What is agreed by now, which may be nothing. Throws FeedRefused where too few Scans are left. */
  async next(): Promise<ReadPage> {
    const { needed, signal, progress } = this.#options;
    const left = this.#tellers.filter(({ refusing }) => refusing === null);
    if (left.length < needed) {
      const why = this.#tellers.flatMap(({ refusing }) => refusing ?? []).join('; ');
      throw new FeedRefused(`--scan-agree ${needed}: only ${left.length} of the Scans can be read: ${why}`);
    }
    for (const [scan, teller] of this.#tellers.entries()) this.#ask(scan, teller);
    const asking = this.#tellers.flatMap((teller) => teller.asking ?? []);
    await Promise.race([...asking, sleep(TURN_MS, undefined, { signal }).catch(() => {})]);
    const { agreed, passedOver, waiting } = this.#agreement.take();
    for (const { upTo } of agreed) this.#furthest = laterOf(this.#furthest, upTo);
    for (const disputed of passedOver) progress.disagreed(this.#named(disputed));
    const ends = this.#tellers.flatMap(({ refusing, endAt }, scan) =>
      refusing === null && endAt !== null && this.#agreement.isEmpty(scan) ? [endAt] : [],
    );
    this.#noteWaiting(waiting);
    const isEnd = agreed.length === 0 && waiting === null && ends.length >= needed;
    return { updates: agreed, isEnd, askedAt: isEnd ? ends.sort((a, b) => b - a)[needed - 1]! : Date.now() };
  }

  #ask(scan: number, teller: Teller): void {
    if (teller.refusing !== null || teller.asking !== null || !this.#agreement.isEmpty(scan)) return;
    if (Date.now() < teller.notBefore) return;
    // What is agreed already is not asked for again.
    const { furthest } = teller.reader;
    const known = this.#agreement.forgottenUpTo;
    if (known !== null && (furthest === null || isAfter(known, furthest))) this.#readAgain(teller, known);
    teller.asking = this.#read(scan, teller).finally(() => {
      teller.asking = null;
    });
  }

  async #read(scan: number, teller: Teller): Promise<void> {
    const { pollIntervalMs, progress, signal } = this.#options;
    try {
      const { updates, isEnd, askedAt } = await teller.reader.next(teller.client);
      this.#agreement.add(scan, updates);
      teller.pauses.afterSuccess();
      teller.endAt = isEnd ? askedAt : null;
      if (isEnd) teller.notBefore = Date.now() + pollIntervalMs;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof AnswerFailure)) throw error;
      if (error.about.conduct === 'stop') teller.refusing = error.message;
      teller.endAt = null;
      await teller.pauses.afterFailure(error, (pause) => {
        teller.notBefore = Date.now() + pause.retryInMs;
        progress.oneFailed(teller.client.url, pause);
      });
    }
  }

  /** Those that lack an update may take it in later: after a while they are asked for it again. */
  #noteWaiting(waiting: Disputed | null): void {
    const { pollIntervalMs, progress } = this.#options;
    const id = waiting?.update.id ?? null;
    if (id !== this.#waiting.id) this.#waiting = { id, since: Date.now() };
    if (waiting === null || Date.now() - this.#waiting.since < WAITING_MS) return;
    this.#waiting = { id, since: Date.now() };
    progress.waits(this.#named(waiting));
    for (const scan of waiting.notBy) {
      const teller = this.#tellers[scan]!;
      if (teller.asking !== null) continue;
      this.#agreement.clear(scan);
      this.#readAgain(teller, waiting.update.upTo ?? this.#furthest);
      teller.notBefore = Date.now() + pollIntervalMs;
    }
  }

  #readAgain(teller: Teller, from: ScanCursor | null): void {
    teller.reader = new UpdatesReader({ ...this.#options, from });
  }

  #named({ update, toldBy, notBy }: Disputed): Disputed<string> {
    const urls = (scans: readonly number[]): string[] => scans.map((scan) => this.#tellers[scan]!.client.url);
    return { update, toldBy: urls(toldBy), notBy: urls(notBy) };
  }
}
