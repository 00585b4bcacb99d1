import { formatTime, type Micros } from '../../ledger/time.ts';
import type { SourceState, SourceStatus } from '../source.ts';

/** What the reading thread of every network source knows. Clock times in milliseconds since 1970. */
export interface NetworkTelemetry {
  /** Why nothing is read now; null while it is. */
  readonly stopped: string | null;
  readonly answeredAt: number | null;
  /** Failures since the last answer. */
  readonly errors: number;
  readonly lastError: string | null;
  /** Everything that the node had at this time of our clock is stored; null before that was so for the first time. */
  readonly caughtUpAt: number | null;
  /** How far what was read last was behind our clock; 0 at the end, null where that is not known, as after a failure. */
  readonly lagSeconds: number | null;
  /** Until the end, at the pace of late; null where that is not known. */
  readonly secondsLeft: number | null;
  readonly newestRecordTime: Micros | null;
  /** Active contracts read of the seed; null where there was none since the start. */
  readonly seedContracts: number | null;
  /** What is wrong and does not stop it. */
  readonly degraded: readonly string[];
}

/** Before anything was read. */
export const NOTHING_READ: NetworkTelemetry = {
  stopped: null,
  answeredAt: null,
  errors: 0,
  lastError: null,
  caughtUpAt: null,
  lagSeconds: null,
  secondsLeft: null,
  newestRecordTime: null,
  seedContracts: null,
  degraded: [],
};

/** The status of a network source: in the one form of all, with what its kind shows besides. */
export function networkStatus(
  name: string,
  { telemetry, lanes, refused }: Pick<SourceState<NetworkTelemetry>, 'telemetry' | 'lanes' | 'refused'>,
  { lane, node, figures }: { readonly lane: string; readonly node: object; readonly figures: object },
): SourceStatus {
  const { stopped, caughtUpAt, errors, lastError, newestRecordTime, ...of } = telemetry ?? NOTHING_READ;
  const network = {
    stopped: refused ?? stopped,
    ...node,
    answered_at: timeOf(of.answeredAt),
    errors_in_a_row: errors,
    last_error: lastError,
    caught_up_at: timeOf(caughtUpAt),
    lag_seconds: of.lagSeconds,
    seconds_left: of.secondsLeft,
    newest_record_time: newestRecordTime === null ? null : formatTime(newestRecordTime),
    seed_contracts: of.seedContracts,
    ...figures,
  };
  return {
    stopped: refused ?? (telemetry === null ? `${name} is not read to its end yet` : stopped),
    degraded: of.degraded,
    blocking: errors > 0 && lastError !== null ? [lastError] : [],
    caughtUpAt,
    lagMessages: null,
    lagSeconds: of.lagSeconds,
    lagBytes: null,
    details: { position: lanes.get(lane)?.cursor ?? null, network },
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
