import { degradedLines, isCaughtUp, phaseReason, quarantinedLines } from '../health.ts';
import type { Readiness } from '../http/readiness.ts';
import type { StreamStatus } from '../http/stream-operation.ts';
import type { IngestStatus } from '../ingest/ingest-status.ts';
import { placeText } from '../views/dead-letter-advice.ts';
import type { StoredStatus } from '../views/read/stored-status.ts';
import type { DeadLetterFacts } from '../views/store/dead-letter-store.ts';

/** Of the phases in which it does not read. */
const PHASES: Readonly<Partial<Record<IngestStatus['phase'], StreamStatus['phase']>>> = {
  starting: 'starting',
  halted: 'halted',
  waiting_for_clock: 'halted',
  refused: 'halted',
  stopped: 'stopping',
};

/** The ingest's status as streams are sent it. */
export function streamStatus(status: IngestStatus, { ready, reasons }: Readiness, readyLagMaxMs: number): StreamStatus {
  const { phase, source, counts } = status;
  const unavailable = phase === 'retrying' ? [phaseReason(status)] : [];
  return {
    phase: PHASES[phase] ?? (isCaughtUp(status, readyLagMaxMs) ? 'caught_up' : 'reading'),
    lag_seconds: source?.status.lagSeconds ?? null,
    updates: counts.updates,
    halted: haltOf(status),
    degraded: [...unavailable, ...degradedLines(status)],
    ready,
    reasons: [...reasons],
    source: phase === 'caught_up' ? null : (source?.name ?? null),
  };
}

/** Of a process that reads what another one writes: whether that one is behind its source is not stored. */
export function readOnlyStreamStatus(
  { halted, deadLetters }: StoredStatus,
  { ready, reasons }: Readiness,
): StreamStatus {
  return {
    phase: halted === null ? 'caught_up' : 'halted',
    lag_seconds: null,
    updates: 0,
    halted: halted && placeAndReason(halted),
    degraded: quarantinedLines(deadLetters),
    ready,
    reasons: [...reasons],
    source: null,
  };
}

/** A feed that is refused has no message at which it is halted. */
function haltOf({ phase, source, halted, lastError }: IngestStatus): StreamStatus['halted'] {
  if (phase === 'refused') return { place: source?.name ?? 'the feed', reason: lastError?.message ?? 'it is refused' };
  return halted && placeAndReason(halted);
}

function placeAndReason(deadLetter: DeadLetterFacts): StreamStatus['halted'] {
  return { place: placeText(deadLetter), reason: deadLetter.reason };
}
