import { setTimeout as sleep } from 'node:timers/promises';
import { createPauses, type Pauses } from '../../retry.ts';
import { AnswerFailure, RETRY_ANY } from '../network/failure.ts';
import type { JsonClient } from '../network/json-client.ts';
import { FeedRefused } from '../source.ts';
import { cursorText, isAfter, type ScanCursor } from './cursor.ts';
import type { ScanProgress } from './progress.ts';
import { firstAfter } from './updates.ts';

/** How often the other Scans are asked whether they have more. */
const CHECK_MS = 60_000;
/** The first end of a Scan waits no longer than this for the answers of the others. */
const CHECK_WAIT_MS = 5_000;

interface Scan {
  readonly client: JsonClient;
  readonly pauses: Pauses;
  /** It is not asked before this time of a clock that is never set. */
  pausedUntilMs: number;
  /** Why asking it again changes nothing; null where it may answer. */
  refusal: string | null;
}

/** Decides which of several Scans is read: the next one after a failure, and one that has updates where the current one shows none. */
export class FailOver {
  readonly #scans: readonly Scan[];
  readonly #readyLagMaxMs: number;
  readonly #progress: ScanProgress;
  /** The Scan that is read. */
  #current: Scan;
  /** Where the choice of the next one begins. */
  #next = 0;
  /** An update that the current one does not show, since when the network has it by our clock, and the Scan that has it; null: it was read. */
  #missing: { readonly at: ScanCursor; readonly sinceMs: number; readonly by: Scan | null } | null = null;
  /** When the others were asked last; null before the first end of the current one. */
  #checkedMs: number | null = null;

  constructor(clients: readonly JsonClient[], readyLagMaxMs: number, progress: ScanProgress) {
    this.#readyLagMaxMs = readyLagMaxMs;
    this.#progress = progress;
    this.#scans = clients.map((client) => {
      const pauses = createPauses(RETRY_ANY, { wait: async () => {} });
      return { client, pauses, pausedUntilMs: 0, refusal: null };
    });
    this.#current = this.#scans[0]!;
  }

  /** The Scan to read from now on. Waits while all of them pause; throws FeedRefused where all of them refuse. */
  async choose(): Promise<JsonClient> {
    const inOrder = [...this.#scans.slice(this.#next), ...this.#scans.slice(0, this.#next)];
    const left = inOrder.filter(({ refusal }) => refusal === null);
    if (left.length === 0) {
      const refusals = this.#scans.map(({ refusal }) => refusal).join('; ');
      throw new FeedRefused(`${refusals}; it is not asked again before the next start`);
    }
    this.#current = left.reduce((first, each) => (pauseLeftMs(each) < pauseLeftMs(first) ? each : first));
    this.#next = (this.#scans.indexOf(this.#current) + 1) % this.#scans.length;
    this.#missing = null;
    this.#checkedMs = null;
    const { client } = this.#current;
    await sleep(pauseLeftMs(this.#current), undefined, { signal: client.signal }).catch(() => {});
    return client;
  }

  answered(): void {
    this.#current.pauses.afterSuccess();
  }

  async failed(error: AnswerFailure): Promise<void> {
    await this.#pause(this.#current, error);
  }

  /**
   * Why the end of the current Scan is not that of the network; null where nothing says so. Throws AnswerFailure once it has been so
   * for longer than a ready service may be behind. `shown`: how far the current Scan has updates; `read`: the last one of any Scan.
   */
  async contradiction({ shown, read }: Record<'shown' | 'read', ScanCursor | null>): Promise<string | null> {
    const isShown = (at: ScanCursor): boolean => shown !== null && !isAfter(at, shown);
    if (this.#missing !== null && isShown(this.#missing.at)) this.#missing = null;
    if (read !== null && !isShown(read)) this.#missing ??= { by: null, at: read, sinceMs: Date.now() };
    if (this.#missing !== null && Date.now() - this.#missing.sinceMs > this.#readyLagMaxMs) {
      if (this.#missing.by !== null) this.#next = this.#scans.indexOf(this.#missing.by);
      throw new AnswerFailure(this.#missingText(shown)!);
    }
    await this.#checkOthers(shown);
    return this.#missingText(shown);
  }

  #missingText(shown: ScanCursor | null): string | null {
    if (this.#missing === null) return null;
    const { by, at } = this.#missing;
    const after = shown === null ? '' : ` after ${cursorText(shown)}`;
    const other = by === null ? `one of ${cursorText(at)} was read` : `${by.client.url} has one of ${cursorText(at)}`;
    return `${this.#current.client.url} shows no update${after}, and ${other}`;
  }

  /** Asks the other Scans for one update after a place. */
  async #checkOthers(after: ScanCursor | null): Promise<void> {
    const before = this.#checkedMs;
    if (before !== null && performance.now() - before < CHECK_MS) return;
    this.#checkedMs = performance.now();
    const others = this.#scans.filter((scan) => scan !== this.#current && isReady(scan));
    const asking = Promise.all(others.map((scan) => this.#check(scan, after)));
    const { signal } = this.#current.client;
    if (before === null) await Promise.race([asking, sleep(CHECK_WAIT_MS, undefined, { signal }).catch(() => {})]);
  }

  async #check(scan: Scan, after: ScanCursor | null): Promise<void> {
    try {
      const at = (await firstAfter(scan.client, after))?.upTo ?? null;
      scan.pauses.afterSuccess();
      if (at !== null) this.#missing ??= { by: scan, at, sinceMs: Math.min(Date.now(), at.recordTime / 1000) };
    } catch (error) {
      if (!scan.client.signal.aborted) await this.#pause(scan, error as Error);
    }
  }

  /** Leaves a Scan that has failed alone for as long as that asks for. */
  async #pause(scan: Scan, error: Error): Promise<void> {
    if (error instanceof AnswerFailure && error.about.conduct === 'stop') scan.refusal = error.message;
    await scan.pauses.afterFailure(error, ({ retryInMs }) => {
      scan.pausedUntilMs = performance.now() + retryInMs;
      const goesOn = scan !== this.#current || this.#scans.some(isReady);
      this.#progress.scanFailed(scan.client.url, { error, retryInMs, goesOn });
    });
  }
}

function pauseLeftMs({ pausedUntilMs }: Scan): number {
  return Math.max(0, pausedUntilMs - performance.now());
}

function isReady(scan: Scan): boolean {
  return scan.refusal === null && pauseLeftMs(scan) === 0;
}
