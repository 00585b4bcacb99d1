import { setTimeout as sleep } from 'node:timers/promises';
import { createPauses, type Pauses } from '../../retry.ts';
import { AnswerFailure, type JsonClient, RETRY_ANSWER } from '../network/json-client.ts';
import type { NetworkProgress } from '../network/network-progress.ts';
import type { ScanSettings } from '../network/network-settings.ts';
import { FeedRefused } from '../source.ts';
import { isAfter, type ScanPosition, tokenOf } from './scan-position.ts';
import { firstAfter } from './update-pages.ts';

const CHECK_INTERVAL_MS = 60_000;
/** The first end of a Scan waits no longer than this for the answers of the others. */
const CHECK_WAIT_MS = 5_000;

interface Scan {
  readonly client: JsonClient;
  readonly pauses: Pauses;
  /** It is not asked before this time of `performance.now`. */
  pausedUntilMs: number;
  /** Why asking it again changes nothing; null where it may answer. */
  refusal: string | null;
}

/** Decides which of several Scans is read: the next one after a failure, and one that has updates where the current one shows none. */
export class FailOver {
  readonly #scans: readonly Scan[];
  readonly #settings: ScanSettings;
  readonly #progress: NetworkProgress;
  /** When and why Scans failed or were left, by their addresses. */
  #left: Readonly<Record<string, { readonly at: string; readonly because: string }>> = {};
  /** The Scan that is read. */
  #current: Scan;
  /** Where the choice of the next one begins. */
  #next = 0;
  /** An update that the current Scan does not show, since when the network has it by our clock, and the Scan that has it; null: it was read. */
  #missing: { readonly at: ScanPosition; readonly sinceMs: number; readonly by: Scan | null } | null = null;
  /** When the others were asked last; null before the first end of the current one. */
  #checkedMs: number | null = null;

  constructor(clients: readonly JsonClient[], settings: ScanSettings, progress: NetworkProgress) {
    this.#settings = settings;
    this.#progress = progress;
    this.#scans = clients.map((client) => {
      // Whatever has failed, another Scan may be asked.
      const pauses = createPauses({ ...RETRY_ANSWER, passes: () => true }, { wait: async () => {} });
      return { client, pauses, pausedUntilMs: 0, refusal: null };
    });
    this.#current = this.#scans[0]!;
  }

  /** The Scan to read from now on. Waits while all of them pause; throws FeedRefused where all of them refuse. */
  async choose(): Promise<JsonClient> {
    const inOrder = [...this.#scans.slice(this.#next), ...this.#scans.slice(0, this.#next)];
    const allowed = inOrder.filter(({ refusal }) => refusal === null);
    if (allowed.length === 0) {
      const refusals = this.#scans.map(({ refusal }) => refusal).join('; ');
      throw new FeedRefused(`${refusals}; it is not asked again before the next start`);
    }
    this.#current = allowed.reduce((first, each) => (pauseLeftMs(each) < pauseLeftMs(first) ? each : first));
    this.#next = (this.#scans.indexOf(this.#current) + 1) % this.#scans.length;
    this.#missing = null;
    this.#checkedMs = null;
    const { client } = this.#current;
    await sleep(pauseLeftMs(this.#current), undefined, { signal: client.signal }).catch(() => {});
    const { [client.url]: _, ...left } = this.#left;
    this.#left = left;
    const isOther = this.#progress.telemetry.network.scan !== client.url;
    this.#progress.show({ scan: client.url, scans_left: left, contradiction: null });
    if (isOther) this.#progress.log('info', `reading the Scan at ${client.url}`);
    return client;
  }

  answered(): void {
    this.#current.pauses.afterSuccess();
  }

  failed(error: AnswerFailure): Promise<void> {
    return this.#pause(this.#current, error);
  }

  /**
   * Why the end of the current Scan is not that of the network; null where nothing says so. Throws AnswerFailure once it has been so
   * for longer than a ready service may be behind. `shown`: how far the current Scan has updates; `read`: the last one of any Scan.
   */
  async contradiction({ shown, read }: Record<'shown' | 'read', ScanPosition | null>): Promise<string | null> {
    const isShown = (at: ScanPosition): boolean => shown !== null && !isAfter(at, shown);
    if (this.#missing !== null && isShown(this.#missing.at)) this.#missing = null;
    if (read !== null && !isShown(read)) this.#missing ??= { by: null, at: read, sinceMs: Date.now() };
    const isLong = this.#missing !== null && Date.now() - this.#missing.sinceMs > this.#settings.readyLagMaxMs;
    if (!isLong) await this.#checkOthers(shown);
    if (this.#missing === null) return null;
    const { by, at } = this.#missing;
    const after = shown === null ? '' : ` after ${tokenOf(shown)}`;
    const other = by === null ? `one of ${tokenOf(at)} was read` : `${by.client.url} has one of ${tokenOf(at)}`;
    const text = `${this.#current.client.url} shows no update${after}, and ${other}`;
    if (!isLong) return text;
    if (by !== null) this.#next = this.#scans.indexOf(by);
    throw new AnswerFailure(text);
  }

  /** Asks the other Scans for one update after a position. */
  async #checkOthers(after: ScanPosition | null): Promise<void> {
    const before = this.#checkedMs;
    const { checkIntervalMs = CHECK_INTERVAL_MS } = this.#settings;
    if (before !== null && performance.now() - before < checkIntervalMs) return;
    this.#checkedMs = performance.now();
    const others = this.#scans.filter((scan) => scan !== this.#current && isReady(scan));
    const asking = Promise.all(others.map((scan) => this.#check(scan, after)));
    const { signal } = this.#current.client;
    if (before === null) await Promise.race([asking, sleep(CHECK_WAIT_MS, undefined, { signal }).catch(() => {})]);
  }

  async #check(scan: Scan, after: ScanPosition | null): Promise<void> {
    try {
      const at = (await firstAfter(scan.client, after))?.upTo ?? null;
      scan.pauses.afterSuccess();
      if (at !== null) this.#missing ??= { by: scan, at, sinceMs: Math.min(Date.now(), at.recordTime / 1000) };
    } catch (error) {
      if (!scan.client.signal.aborted) await this.#pause(scan, error as Error);
    }
  }

  /** Leaves a Scan that has failed alone for as long as the failure asks for. */
  async #pause(scan: Scan, error: Error): Promise<void> {
    if (error instanceof AnswerFailure && error.about.conduct === 'stop') scan.refusal = error.message;
    await scan.pauses.afterFailure(error, ({ retryInMs }) => {
      scan.pausedUntilMs = performance.now() + retryInMs;
      const { url } = scan.client;
      const because = error.message;
      const isKnown = this.#left[url]?.because === because;
      this.#left = { ...this.#left, [url]: { at: new Date().toISOString(), because } };
      this.#progress.show({ scans_left: this.#left });
      if (scan === this.#current && !this.#scans.some(isReady)) this.#progress.failed({ error, retryInMs });
      else if (!isKnown) this.#progress.log('warn', `another Scan is read in place of ${url}: ${because}`);
    });
  }
}

function pauseLeftMs({ pausedUntilMs }: Scan): number {
  return Math.max(0, pausedUntilMs - performance.now());
}

function isReady(scan: Scan): boolean {
  return scan.refusal === null && pauseLeftMs(scan) === 0;
}
