import { formatTime, type Micros } from '../../ledger/time.ts';
import type { SourceState, SourceStatus } from '../source.ts';
import { LANE } from './cursor.ts';

/** What the reading thread knows of its participant. Clock times in milliseconds since 1970. */
export interface LedgerApiTelemetry {
  /** Why nothing is read now; null while it is. */
  readonly stopped: string | null;
  readonly url: string;
  /** Null until it has said it. */
  readonly participant: string | null;
  readonly answeredAt: number | null;
  /** Failures since the last answer. */
  readonly errors: number;
  readonly lastError: string | null;
  /** Everything that the participant had at this time of our clock is stored; null before that was so for the first time. */
  readonly caughtUpAt: number | null;
  /** How far the newest element was behind our clock; 0 at the end. */
  readonly lagSeconds: number | null;
  /** Until the end, at the pace of late; null where that is not known. */
  readonly secondsLeft: number | null;
  readonly newestRecordTime: Micros | null;
  /** Its last offset, when it was asked last. */
  readonly ledgerEnd: number | null;
  /** Active contracts read of the seed; null where there was none since the start. */
  readonly seedContracts: number | null;
  readonly degraded: readonly string[];
}

/** The status of a participant's source, from its last telemetry and what the views have by now. */
export function followLedgerApi(name: string): { status(state: SourceState<LedgerApiTelemetry>): SourceStatus } {
  return {
    status({ telemetry, lanes, mayLeaveGap, refused }) {
      const { errors, lastError, newestRecordTime, ...of } = telemetry ?? NOTHING;
      const stopped = of.stopped ?? (mayLeaveGap ? NOT_SHOWN : null);
      const caughtUpAt = mayLeaveGap ? null : of.caughtUpAt;
      const shown = {
        stopped: refused ?? stopped,
        url: of.url,
        participant: of.participant,
        answered_at: timeOf(of.answeredAt),
        errors_in_a_row: errors,
        last_error: lastError,
        caught_up_at: timeOf(caughtUpAt),
        lag_seconds: of.lagSeconds,
        seconds_left: of.secondsLeft,
        newest_record_time: newestRecordTime === null ? null : formatTime(newestRecordTime),
        ledger_end: of.ledgerEnd,
        seed_contracts: of.seedContracts,
      };
      return {
        stopped: refused ?? (telemetry === null ? `${name} is not read to its end yet` : stopped),
        degraded: of.degraded,
        blocking: errors > 0 && lastError !== null ? [lastError] : [],
        caughtUpAt,
        lagMessages: null,
        lagSeconds: of.lagSeconds,
        lagBytes: null,
        details: { position: lanes.get(LANE)?.cursor ?? null, network: shown },
      };
    },
  };
}

const NOT_SHOWN =
  'not known yet to continue the files: the participant has shown no update that they have, and may begin after their end';

const NOTHING: LedgerApiTelemetry = {
  stopped: null,
  url: '',
  participant: null,
  answeredAt: null,
  errors: 0,
  lastError: null,
  caughtUpAt: null,
  lagSeconds: null,
  secondsLeft: null,
  newestRecordTime: null,
  ledgerEnd: null,
  seedContracts: null,
  degraded: [],
};

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
