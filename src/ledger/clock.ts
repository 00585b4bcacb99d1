import { BadUpdate } from './bad-update.ts';
import { formatTime, type Micros } from './time.ts';

/**
 * How far a record time may be after our clock and after the time reached; further halts, whatever the policy
 * (docs/rules.md, rule 6).
 */
export interface ClockRules {
  /** Our clock, microseconds: one reading per chunk. */
  readonly now: Micros;
  readonly recordTimeAheadMaxUs: number;
  readonly recordTimeGapMaxUs: number;
}

/** `timeReached`: the migration's; null before its first update. */
export function checkClock(
  time: Micros,
  { now, recordTimeAheadMaxUs, recordTimeGapMaxUs }: ClockRules,
  { timeReached, field }: { timeReached: Micros | null; field: string },
): void {
  if (time > now + recordTimeAheadMaxUs) {
    throw new BadUpdate(
      'ahead_of_clock',
      field,
      formatTime(time),
      `a time no further ahead of our clock (${formatTime(now)}) than --record-time-ahead-max`,
    );
  }
  if (timeReached !== null && time - timeReached > recordTimeGapMaxUs) {
    throw new BadUpdate(
      'record_time_gap',
      field,
      formatTime(time),
      `a time no further after ${formatTime(timeReached)}, the time reached, than --record-time-gap-max`,
    );
  }
}
