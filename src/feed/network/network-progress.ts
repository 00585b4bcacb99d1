import { formatTime, type Micros } from '../../ledger/time.ts';
import type { Pause } from '../../retry.ts';
import { type Message, notShown, type Source, type SourceContext, type SourceKind } from '../source.ts';
import { type ImportMessage, LANE } from './snapshot-import.ts';

/** How often a long step is reported in the log. */
const REPORT_MS = 10_000;

/** What the reading thread of a network source knows. Clock times in milliseconds since 1970. */
export interface NetworkTelemetry {
  /** Why nothing is read now; null while it is. */
  readonly stopped: string | null;
  /** Everything that the node had at this time of our clock is stored; null before that was so for the first time. */
  readonly caughtUpAt: number | null;
  /** How far the newest message is behind our clock; 0 at the end, null where that is not known, as after a failure. */
  readonly lagSeconds: number | null;
  readonly newestRecordTime: Micros | null;
  /** What is wrong and does not stop it. */
  readonly degraded: readonly string[];
  readonly network: Figures;
}

/** What the status shows besides, by the names of its JSON, with what only one kind of network has. */
type Figures = typeof NO_FIGURES & { readonly contradiction?: string | null } & Readonly<Record<string, unknown>>;

const NO_FIGURES = {
  answered_at: null as string | null,
  /** Failures since the last answer. */
  errors_in_a_row: 0,
  last_error: null as string | null,
  /** Null while it answers. */
  next_attempt_at: null as string | null,
  /** Until the end, at the current pace; null where that is not known. */
  seconds_left: null as number | null,
  /** Active contracts read of the snapshot import; null where there was none since the start. */
  seed_contracts: null as number | null,
};

const NOTHING_READ = { caughtUpAt: null, lagSeconds: null, newestRecordTime: null, degraded: [] };

/** Numbers the messages of a network, and makes what the status and the log say of reading it. */
export class NetworkProgress {
  readonly #kind: string;
  readonly #logger: SourceContext['logger'];
  #telemetry: NetworkTelemetry;
  #messages = 0;
  /** The stored resume token. */
  #stored: string | null;
  /** An end of the ledger, and when it was asked for. It is reached once all up to there is stored. */
  #end: { readonly at: number; readonly isStored: (resumeToken: string | null) => boolean } | null = null;
  /** Where a catch-up began, which the pace is measured from. */
  #begun: { readonly at: number; readonly recordTime: Micros } | null = null;
  #reportedMs = performance.now();

  constructor(
    kind: string,
    { logger, stored }: Pick<SourceContext, 'logger' | 'stored'>,
    { stopped, figures }: { readonly stopped: string; readonly figures: Readonly<Record<string, unknown>> },
  ) {
    this.#kind = kind;
    this.#logger = logger;
    this.#stored = stored.lanes.get(LANE)?.resumeToken ?? null;
    this.#telemetry = { ...NOTHING_READ, stopped, network: { ...NO_FIGURES, ...figures } };
  }

  messageOf({ bytes, decoded }: ImportMessage, resumeToken: string): Message {
    this.#messages += 1;
    return { lane: LANE, offset: this.#messages, resumeToken, bytes, ...(decoded && { decoded }) };
  }

  /** What a source reports. */
  get reports(): Pick<Source<NetworkTelemetry>, 'progress' | 'telemetry'> {
    return { progress: () => ({ read: this.#messages, total: null }), telemetry: () => this.#telemetry };
  }

  get telemetry(): NetworkTelemetry {
    return this.#telemetry;
  }

  #set(change: Partial<Omit<NetworkTelemetry, 'network'>>, figures: Partial<Figures> = {}): void {
    const { network } = this.#telemetry;
    this.#telemetry = { ...this.#telemetry, ...change, network: { ...network, ...figures } };
  }

  show(figures: Partial<Figures>): void {
    this.#set({}, figures);
  }

  answered(change: Partial<Omit<NetworkTelemetry, 'network'>>, figures: Partial<Figures> = {}): void {
    this.#set(change, { ...figures, answered_at: new Date().toISOString(), errors_in_a_row: 0, next_attempt_at: null });
  }

  stop(stopped: string): void {
    this.#set({ stopped });
  }

  readonly failed = ({ error, retryInMs }: Pick<Pause, 'error' | 'retryInMs'>): void => {
    const stopped = `cannot read the ${this.#kind}: ${error.message}`;
    const errors_in_a_row = this.#telemetry.network.errors_in_a_row + 1;
    const next_attempt_at = new Date(Date.now() + retryInMs).toISOString();
    const figures = { seconds_left: null, errors_in_a_row, last_error: error.message, next_attempt_at };
    this.#set({ stopped, lagSeconds: null }, figures);
    this.log('warn', stopped, { retryInMs: Math.round(retryInMs) });
  };

  degrade(degraded: readonly string[]): void {
    for (const each of degraded) if (!this.#telemetry.degraded.includes(each)) this.log('warn', each);
    this.#set({ degraded });
  }

  importing(contracts: number, from: string): void {
    const stopped = `reading the active contracts ${from}: ${contracts} so far`;
    this.answered({ stopped }, { seed_contracts: contracts });
    this.#report(stopped, { contracts });
  }

  /** All active contracts are read. `stopped`: what is missing before updates follow. */
  imported(stopped: string | null): void {
    this.answered({ stopped });
    const contracts = this.#telemetry.network.seed_contracts;
    this.log('info', `all active contracts are read; ${stopped ?? 'updates follow'}`, { contracts });
  }

  /** How far the ledger is read. `at`: our clock when that was asked for. */
  advance(recordTime: Micros | null, { at, isEnd }: { readonly at: number; readonly isEnd: boolean }): void {
    const known = { stopped: null, newestRecordTime: recordTime };
    if (isEnd) this.#begun = null;
    if (isEnd || recordTime === null) {
      const lagSeconds = isEnd ? 0 : null;
      return this.answered({ ...known, lagSeconds }, { seconds_left: lagSeconds });
    }
    const lagSeconds = Math.max(0, Math.round(at / 1000 - recordTime / 1e6));
    const secondsLeft = this.#secondsLeft(recordTime, at);
    this.answered({ ...known, lagSeconds }, { seconds_left: secondsLeft });
    this.#report(`catching up with the ${this.#kind}`, { recordTime: formatTime(recordTime), lagSeconds, secondsLeft });
  }

  end(at: number, isStored: (resumeToken: string | null) => boolean): void {
    this.#end ??= { at, isStored };
    this.stored(this.#stored);
  }

  /** One commit may store more or less than what was read up to an end. */
  stored(resumeToken: string | null): void {
    this.#stored = resumeToken;
    if (this.#end?.isStored(resumeToken) !== true) return;
    const { lagSeconds, network } = this.#telemetry;
    const change = { caughtUpAt: this.#end.at, lagSeconds: lagSeconds ?? 0 };
    this.#set(change, { seconds_left: network.seconds_left ?? 0 });
    this.#end = null;
  }

  log(level: 'info' | 'warn', message: string, fields: object = {}): void {
    const { scan, url } = this.#telemetry.network;
    this.#logger[level]({ ...(scan === undefined ? { url } : { scan }), ...fields }, message);
  }

  #report(message: string, fields: object): void {
    if (performance.now() - this.#reportedMs < REPORT_MS) return;
    this.#reportedMs = performance.now();
    this.log('info', message, fields);
  }

  /** At the pace since the last end. Null where the ledger is faster than it is read. */
  #secondsLeft(recordTime: Micros, at: number): number | null {
    this.#begun ??= { at, recordTime };
    const pace = (recordTime - this.#begun.recordTime) / 1000 / (at - this.#begun.at || Infinity);
    const behindMs = at - recordTime / 1000;
    return pace > 1 && behindMs > 0 ? Math.round(behindMs / (pace - 1) / 1000) : null;
  }
}

/** A kind of source that reads a network: all is in one lane, and its status has one form. */
export function networkKind<Settings>(
  kind: string,
  open: SourceKind<Settings, NetworkTelemetry>['open'],
): SourceKind<Settings, NetworkTelemetry> {
  return {
    kind,
    resumes: true,
    locationOf: ({ offset, resumeToken = null }) => ({ item: offset, up_to: resumeToken }),
    open,
    status(name, { telemetry, lanes, refused, mayLeaveGap }) {
      const unread = { ...NOTHING_READ, stopped: `${name} is not read to its end yet`, network: NO_FIGURES };
      const { network, ...known }: NetworkTelemetry = telemetry ?? unread;
      const { lagSeconds, newestRecordTime: newest, degraded } = known;
      const { contradiction = null, errors_in_a_row: errors, last_error: lastError } = network;
      const caughtUpAt = mayLeaveGap ? null : known.caughtUpAt;
      const stopped = refused ?? known.stopped ?? (mayLeaveGap ? notShown(`the ${kind}`) : null);
      const shown = {
        stopped,
        caught_up_at: caughtUpAt === null ? null : new Date(caughtUpAt).toISOString(),
        lag_seconds: lagSeconds,
        newest_record_time: newest === null ? null : formatTime(newest),
        ...network,
      };
      return {
        ...{ stopped, degraded, caughtUpAt, lagSeconds, lagMessages: null, lagBytes: null },
        blocking: [contradiction, errors > 0 ? lastError : null].filter((reason) => reason !== null),
        details: { position: lanes.get(LANE)?.resumeToken ?? null, network: shown },
      };
    },
  };
}
