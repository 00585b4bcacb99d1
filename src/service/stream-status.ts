import { placeText } from '../dead-letters/text.ts';
import { degradedLines, isCaughtUp, quarantinedLines } from '../health.ts';
import type { StreamStatus } from '../http/insight/stream/operation.ts';
import type { IngestStatus } from '../ingest/status.ts';
import type { Standing } from '../views/read/standing.ts';
import type { DeadLetterFacts } from '../views/store/dead-letters.ts';

/** The ingest's status as streams are sent it. */
export function streamStatus(status: IngestStatus, lag: { readyLagMaxMs: number; now: number }): StreamStatus {
  const { phase, source, counts, lastError } = status;
  const unavailable = phase === 'retrying' ? [`ingest is unavailable (${lastError?.message}); it is tried again`] : [];
  return {
    phase: phaseOf(status, lag),
    lag_seconds: source?.status.lagSeconds ?? null,
    updates: counts.updates,
    halted: haltOf(status),
    degraded: [...unavailable, ...degradedLines(status)],
  };
}

/** Of a process that reads what another one writes: whether that one is behind its source is not stored. */
export function readOnlyStreamStatus({ halted, deadLetters }: Standing): StreamStatus {
  return {
    phase: halted === null ? 'caught_up' : 'halted',
    lag_seconds: null,
    updates: 0,
    halted: halted && placeAndReason(halted),
    degraded: [...quarantinedLines(deadLetters)],
  };
}

function phaseOf(status: IngestStatus, lag: { readyLagMaxMs: number; now: number }): StreamStatus['phase'] {
  switch (status.phase) {
    case 'starting':
      return 'starting';
    case 'halted':
    case 'waiting_for_clock':
    case 'refused':
      return 'halted';
    case 'stopped':
      return 'stopping';
    default:
      return isCaughtUp(status, lag) ? 'caught_up' : 'reading';
  }
}

/** A feed that is refused has no message at which it is halted. */
function haltOf({ phase, source, halted, lastError }: IngestStatus): StreamStatus['halted'] {
  if (phase === 'refused') return { place: source?.name ?? 'the feed', reason: lastError?.message ?? 'it is refused' };
  return halted && placeAndReason(halted);
}

function placeAndReason(deadLetter: DeadLetterFacts): StreamStatus['halted'] {
  return { place: placeText(deadLetter), reason: deadLetter.reason };
}
