import { formatTime, type Micros } from '../../ledger/time.ts';
import type { SourceState, SourceStatus } from '../source.ts';

/** The one lane: the updates of a network are in one order. */
export const LANE = 'updates';

/** A lane without messages: its cursor is what the supply of the seed differs by, so that it is said after a restart too. */
export const SUPPLY = 'supply';

/** What the reading thread knows of its Scans. Clock times in milliseconds since 1970. */
export interface ScanTelemetry {
  /** Why nothing is read now; null while it is. */
  readonly stopped: string | null;
  /** The Scan that answered last, or is asked. */
  readonly scan: string;
  readonly answeredAt: number | null;
  /** Failures since the last answer. */
  readonly errors: number;
  readonly lastError: string | null;
  /** Everything that the Scan had at this time of our clock is stored; null before that was so for the first time. */
  readonly caughtUpAt: number | null;
  /** How far the last page was behind our clock; 0 at the end. */
  readonly lagSeconds: number | null;
  /** Until the end, at the pace of late; null at the end and where that is not known. */
  readonly secondsLeft: number | null;
  readonly newestRecordTime: Micros | null;
  /** Active contracts read of the seed; null where there was none since the start. */
  readonly seedContracts: number | null;
  /** What differs from what the Scan says, and does not stop it. */
  readonly degraded: readonly string[];
  /** How many updates of a Scan were not believed, by its address. */
  readonly disagreements: Readonly<Record<string, number>>;
}

/** The status of a network's source, from its last telemetry and what the views have by now. */
export function followScan(name: string): { status(state: SourceState<ScanTelemetry>): SourceStatus } {
  return {
    status({ telemetry, lanes, refused }) {
      const { stopped, caughtUpAt, errors, lastError, newestRecordTime, ...of } = telemetry ?? NOTHING;
      const shown = {
        stopped: refused ?? stopped,
        scan: of.scan,
        answered_at: timeOf(of.answeredAt),
        errors_in_a_row: errors,
        last_error: lastError,
        caught_up_at: timeOf(caughtUpAt),
        lag_seconds: of.lagSeconds,
        seconds_left: of.secondsLeft,
        newest_record_time: newestRecordTime === null ? null : formatTime(newestRecordTime),
        seed_contracts: of.seedContracts,
        disagreements: of.disagreements,
      };
      const cursor = lanes.get(LANE)?.cursor ?? null;
      return {
        stopped: refused ?? (telemetry === null ? `${name} is not read to its end yet` : stopped),
        degraded: of.degraded,
        disagreements: of.disagreements,
        blocking: errors > 0 && lastError !== null ? [lastError] : [],
        caughtUpAt,
        lagMessages: null,
        lagSeconds: of.lagSeconds,
        lagBytes: null,
        details: { position: cursor, network: shown },
      };
    },
  };
}

const NOTHING: ScanTelemetry = {
  stopped: null,
  scan: '',
  answeredAt: null,
  errors: 0,
  lastError: null,
  caughtUpAt: null,
  lagSeconds: null,
  secondsLeft: null,
  newestRecordTime: null,
  seedContracts: null,
  degraded: [],
  disagreements: {},
};

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
