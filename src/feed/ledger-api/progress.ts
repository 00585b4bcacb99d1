import { formatTime, type Micros } from '../../ledger/time.ts';
import type { Pause } from '../../retry.ts';
import { type NetworkTelemetry, NOTHING_READ } from '../network/status.ts';
import type { SourceLogger } from '../source.ts';
import { IN_SEED } from './cursor.ts';

/** How often a long step is reported in the log. */
const REPORT_MS = 10_000;
/** The pace of a catch-up is that of about this long. */
const PACE_MS = 30_000;

/** What the reading thread knows of its participant. */
export interface LedgerApiTelemetry extends NetworkTelemetry {
  readonly url: string;
  /** Null until it has said it. */
  readonly participant: string | null;
  /** Its last offset, when it was asked last. */
  readonly ledgerEnd: number | null;
}

/** What the status and the log say of reading a participant. */
export class LedgerApiProgress {
  readonly #logger: SourceLogger;
  #telemetry: LedgerApiTelemetry;
  /** The last offset read, and the one stored. */
  #read: number | null = null;
  #stored: number | null;
  /** The participant's end when it was asked: reached once all up to there is stored. */
  #end: { readonly offset: number; readonly askedAt: number } | null = null;
  #pace: { readonly at: number; readonly offset: number }[] = [];
  #reportedMs = performance.now();

  constructor({ url, logger, stored }: { url: string; logger: SourceLogger; stored: number | null }) {
    this.#logger = logger;
    this.#stored = stored;
    this.#telemetry = {
      ...NOTHING_READ,
      stopped: `connecting to ${url}`,
      url,
      participant: null,
      ledgerEnd: null,
    };
  }

  get telemetry(): LedgerApiTelemetry {
    return this.#telemetry;
  }

  #set(change: Partial<LedgerApiTelemetry>): void {
    this.#telemetry = { ...this.#telemetry, ...change };
  }

  #answered(change: Partial<LedgerApiTelemetry>): void {
    this.#set({ ...change, answeredAt: Date.now(), errors: 0 });
  }

  participant(participant: string): void {
    this.#set({ participant });
  }

  degraded(degraded: readonly string[]): void {
    for (const each of degraded) if (!this.#telemetry.degraded.includes(each)) this.#logger.warn({}, each);
    this.#set({ degraded });
  }

  readonly failed = ({ error, retryInMs }: Pick<Pause, 'error' | 'retryInMs'>): void => {
    const stopped = `cannot read the participant: ${error.message}`;
    const unknown = { lagSeconds: null, secondsLeft: null };
    this.#set({ ...unknown, stopped, errors: this.#telemetry.errors + 1, lastError: error.message });
    this.#logger.warn({ url: this.#telemetry.url, retryInMs: Math.round(retryInMs) }, stopped);
  };

  stop(stopped: string): void {
    this.#set({ stopped });
  }

  seeding(contracts: number, offset: number): void {
    this.#answered({
      stopped: `reading the active contracts at offset ${offset}: ${contracts} so far`,
      seedContracts: contracts,
    });
    this.#report({ contracts, offset }, 'reading the active contracts');
  }

  awaitingTime(offset: number): void {
    const stopped = `waiting for the time of offset ${offset}, which the first checkpoint behind it will say`;
    this.#answered({ stopped });
    this.#logger.info(
      { contracts: this.#telemetry.seedContracts, offset },
      `all active contracts are read; ${stopped}`,
    );
  }

  /** A stream of updates begins behind an offset. */
  following(offset: number): void {
    this.#read = Math.max(this.#read ?? 0, offset);
    this.#answered({ stopped: null });
    this.#checkEnd();
  }

  read(offset: number, recordTime: Micros | null): void {
    const newestRecordTime = recordTime ?? this.#telemetry.newestRecordTime;
    this.#read = offset;
    const now = Date.now();
    this.#pace.push({ at: now, offset });
    while (this.#pace.length > 2 && now - this.#pace[1]!.at > PACE_MS) this.#pace.shift();
    const left = (this.#telemetry.ledgerEnd ?? Infinity) - offset;
    const isEnd = left <= 0;
    const behind = newestRecordTime === null ? null : Math.max(0, Math.round(now / 1000 - newestRecordTime / 1e6));
    const lagSeconds = isEnd ? 0 : behind;
    const secondsLeft = isEnd ? 0 : this.#secondsLeft(left);
    this.#answered({ stopped: null, newestRecordTime, lagSeconds, secondsLeft });
    if (isEnd) return;
    const time = newestRecordTime === null ? null : formatTime(newestRecordTime);
    this.#report({ offset, recordTime: time, lagSeconds, secondsLeft }, 'catching up with the participant');
  }

  end(offset: number, askedAt: number): void {
    this.#set({ ledgerEnd: offset, answeredAt: Date.now() });
    // An earlier end may be reached before this one: it says since when.
    if (this.#end === null || (this.#stored !== null && this.#stored >= offset)) this.#end = { offset, askedAt };
    this.#checkEnd();
  }

  stored(cursor: string | null): void {
    this.#stored = cursor === null || cursor === IN_SEED ? null : Number(cursor);
    this.#checkEnd();
  }

  #checkEnd(): void {
    if (this.#end === null || this.#read === null || this.#stored === null || this.#stored < this.#end.offset) return;
    this.#set({ caughtUpAt: this.#end.askedAt, lagSeconds: 0, secondsLeft: 0 });
    this.#end = null;
  }

  #report(fields: object, message: string): void {
    if (performance.now() - this.#reportedMs < REPORT_MS) return;
    this.#reportedMs = performance.now();
    this.#logger.info({ url: this.#telemetry.url, ...fields }, message);
  }

  /** Null where nothing is known yet. */
  #secondsLeft(offsets: number): number | null {
    const [first, last] = [this.#pace[0], this.#pace.at(-1)];
    if (first === undefined || last === undefined || last.at <= first.at || last.offset <= first.offset) return null;
    if (offsets === Infinity) return null;
    return Math.round(((offsets / (last.offset - first.offset)) * (last.at - first.at)) / 1000);
  }
}
