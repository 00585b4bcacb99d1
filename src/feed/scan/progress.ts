import { formatTime, type Micros } from '../../ledger/time.ts';
import type { Pause } from '../../retry.ts';
import { type NetworkTelemetry, NOTHING_READ } from '../network/status.ts';
import type { SourceLogger } from '../source.ts';
import { IN_SEED, isAfter, parseCursor, type ScanCursor } from './cursor.ts';

/** How often a long step is reported in the log. */
const REPORT_MS = 10_000;
/** The pace of a catch-up is that of about this long: a ledger's traffic changes. */
const PACE_MS = 30_000;

/** What the reading thread knows of its Scans. */
export interface ScanTelemetry extends NetworkTelemetry {
  /** The Scan that is read. */
  readonly scan: string;
  /** Why its end is not that of the network; null where nothing says so. */
  readonly contradiction: string | null;
  /** When and why the others failed or were left, by their addresses. */
  readonly left: Readonly<Record<string, { readonly at: string; readonly because: string }>>;
}

interface PageRead {
  /** How far the ledger is read, with this page; null before the first update of all. */
  readonly place: ScanCursor | null;
  /** The Scan has no more. */
  readonly isEnd: boolean;
  readonly contradiction: string | null;
  /** Our clock, milliseconds. */
  readonly askedAt: number;
}

interface ProgressOptions {
  readonly urls: readonly string[];
  readonly logger: SourceLogger;
  readonly stored: string | null;
  /** What the supply of its seed differs by; null where it does not. */
  readonly supply: string | null;
}

/** What the status and the log say of reading Scans. */
export class ScanProgress {
  readonly #logger: SourceLogger;
  #telemetry: ScanTelemetry;
  #stored: string | null;
  /** When the Scan's end was asked for: reached once all read by then is stored. */
  #end: { readonly at: number; readonly place: ScanCursor | null } | null = null;
  #pace: { readonly at: number; readonly recordTime: Micros }[] = [];
  #reportedMs = performance.now();

  constructor({ urls, logger, stored, supply }: ProgressOptions) {
    this.#logger = logger;
    this.#stored = stored;
    this.#telemetry = {
      ...NOTHING_READ,
      stopped: `connecting to ${urls.join(', ')}`,
      scan: '',
      contradiction: null,
      left: {},
      degraded: supply === null ? [] : [supply],
    };
  }

  get telemetry(): ScanTelemetry {
    return this.#telemetry;
  }

  #set(change: Partial<ScanTelemetry>): void {
    this.#telemetry = { ...this.#telemetry, ...change };
  }

  begin(scan: string): void {
    if (scan !== this.#telemetry.scan) this.#logger.info({ scan }, `reading the Scan at ${scan}`);
    const { [scan]: _, ...left } = this.#telemetry.left;
    this.#set({ scan, left, contradiction: null });
  }

  /** `goesOn`: another Scan is read. */
  scanFailed(
    scan: string,
    { goesOn, ...pause }: Pick<Pause, 'error' | 'retryInMs'> & { readonly goesOn: boolean },
  ): void {
    const because = pause.error.message;
    const isKnown = this.#telemetry.left[scan]?.because === because;
    this.#set({ left: { ...this.#telemetry.left, [scan]: { at: new Date().toISOString(), because } } });
    if (!goesOn) this.failed(pause);
    else if (!isKnown) this.#logger.warn({ scan }, `another Scan is read in place of ${scan}: ${because}`);
  }

  readonly failed = ({ error, retryInMs }: Pick<Pause, 'error' | 'retryInMs'>): void => {
    const stopped = `cannot read the network: ${error.message}`;
    const unknown = { lagSeconds: null, secondsLeft: null };
    this.#set({ ...unknown, stopped, errors: this.#telemetry.errors + 1, lastError: error.message });
    this.#logger.warn({ scan: this.#telemetry.scan, retryInMs: Math.round(retryInMs) }, stopped);
  };

  stop(stopped: string): void {
    this.#set({ stopped });
  }

  seeding(contracts: number, time: string): void {
    this.#answered({
      stopped: `reading the active contracts of ${time}: ${contracts} so far`,
      seedContracts: contracts,
    });
    this.#report({ contracts, recordTime: time }, 'reading the active contracts');
  }

  seeded(difference: string | null, time: string): void {
    const { scan, seedContracts: contracts } = this.#telemetry;
    this.#set({ stopped: null, degraded: difference === null ? [] : [difference] });
    if (difference !== null) this.#logger.warn({ scan }, difference);
    this.#logger.info({ scan, contracts, recordTime: time }, 'all active contracts are read; updates follow');
  }

  page({ place, isEnd: isScanEnd, contradiction, askedAt }: PageRead): void {
    const isEnd = isScanEnd && contradiction === null;
    const recordTime = place?.recordTime ?? null;
    const lagSeconds = isEnd
      ? 0
      : recordTime === null
        ? null
        : Math.max(0, Math.round(askedAt / 1000 - recordTime / 1e6));
    if (isEnd) this.#pace = [];
    else if (recordTime !== null) this.#notePace(recordTime, askedAt);
    const secondsLeft = isEnd ? 0 : this.#secondsLeft();
    const { scan, contradiction: before } = this.#telemetry;
    if (contradiction !== null && before === null) this.#logger.warn({ scan }, contradiction);
    this.#answered({ stopped: null, contradiction, lagSeconds, secondsLeft, newestRecordTime: recordTime });
    if (isEnd) this.#end ??= { at: askedAt, place };
    this.#checkEnd();
    if (isScanEnd || recordTime === null) return;
    this.#report({ recordTime: formatTime(recordTime), lagSeconds, secondsLeft }, 'catching up with the network');
  }

  stored(cursor: string | null): void {
    this.#stored = cursor;
    this.#checkEnd();
  }

  /** One commit may store several pages, so that what is stored may be behind the end. */
  #checkEnd(): void {
    if (this.#end === null || this.#stored === IN_SEED) return;
    const { place } = this.#end;
    const stored = this.#stored === null ? null : parseCursor(this.#stored);
    if (place !== null && (stored === null || isAfter(place, stored))) return;
    this.#set({ caughtUpAt: this.#end.at });
    this.#end = null;
  }

  #answered(change: Partial<ScanTelemetry>): void {
    this.#set({ ...change, answeredAt: Date.now(), errors: 0 });
  }

  #report(fields: object, message: string): void {
    if (performance.now() - this.#reportedMs < REPORT_MS) return;
    this.#reportedMs = performance.now();
    this.#logger.info({ scan: this.#telemetry.scan, ...fields }, message);
  }

  #notePace(recordTime: Micros, at: number): void {
    this.#pace.push({ at, recordTime });
    while (this.#pace.length > 2 && at - this.#pace[1]!.at > PACE_MS) this.#pace.shift();
  }

  /** Null where nothing is known yet, and where the ledger is faster than it is read. */
  #secondsLeft(): number | null {
    const [first, last] = [this.#pace[0], this.#pace.at(-1)];
    if (first === undefined || last === undefined || last.at <= first.at) return null;
    const pace = (last.recordTime - first.recordTime) / 1000 / (last.at - first.at);
    const behindMs = last.at - last.recordTime / 1000;
    return pace > 1 && behindMs > 0 ? Math.round(behindMs / (pace - 1) / 1000) : null;
  }
}
