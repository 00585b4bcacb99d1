import { counted } from '../counted.ts';
import type { HoldingsStore } from '../holdings/facts.ts';
import { type Health, newestSnapshots, type Obstacle, type Readiness, readiness } from '../http/service-operations.ts';
import type { StreamStatus } from '../http/streams.ts';
import type { IngestStatus } from '../ingest/ingest-status.ts';
import { formatTime } from '../ledger/time.ts';
import { deadLetterJson, haltLine, LIST, locationText, plainCommand } from '../views/dead-letter-advice.ts';
import type { StoredStatus, TokenStatus } from '../views/read/stored-status.ts';
import type { DeadLetterFacts } from '../views/store/dead-letter-store.ts';

/**
 * What /readyz and /status say, from the ingest's status and what is in the views. `failure`: the error that ended the writer's thread.
 * Ready while everything in the source was applied less than `readyLagMaxMs` ago.
 */
export function createHealth(
  version: string,
  store: HoldingsStore,
  ingest: { status: () => IngestStatus; failure: () => Error | null; readyLagMaxMs: number },
): Health {
  return {
    async ready() {
      const status = ingest.status();
      const obstacle = ingest.failure() === null ? ingestObstacle(status, ingest.readyLagMaxMs) : WRITER_STOPPED;
      const { deadLetters, source, counts } = status;
      const degraded = [...quarantinedLines(deadLetters), ...legsLines(counts), ...(source?.status.degraded ?? [])];
      return readiness(store, obstacle, degraded);
    },
    async status() {
      const { phase, source, halted, importedAt, deadLetters, lastError, dso, tokens, ...status } = ingest.status();
      const { firstLegsDifference: _first, viewDiffers, ...counts } = status.counts;
      return {
        version,
        phase,
        source: source && { name: source.name, ...source.status.details },
        snapshots: newestSnapshots(await store.facts({ kind: 'newest snapshots' })),
        seeded_at: importedAt && formatTime(importedAt),
        dso: dso.party,
        dso_pinned: dso.pinned,
        ...tokenFields(tokens),
        view_differs: viewDiffers,
        counts: Object.fromEntries(Object.entries(counts).map(([name, count]) => [snakeCase(name), count])),
        dead_letters: deadLetters,
        halted: halted && deadLetterJson(halted, plainCommand),
        last_error: lastError,
      };
    },
  };
}

/** Health of a process that only reads the views: it knows what is stored there. */
export function createReadOnlyHealth(
  version: string,
  store: HoldingsStore,
  standing: () => StoredStatus,
  print = plainCommand,
): Health {
  return {
    async ready() {
      const { halted, deadLetters } = standing();
      const haltedLines = halted === null ? [] : [haltLine(halted, print)];
      return readiness(store, null, [...haltedLines, ...quarantinedLines(deadLetters, print)]);
    },
    async status() {
      const { dso, tokens, deadLetters, halted } = standing();
      return {
        version,
        phase: 'read_only',
        source: null,
        snapshots: newestSnapshots(await store.facts({ kind: 'newest snapshots' })),
        dso: dso.party,
        dso_pinned: dso.pinned,
        ...tokenFields(tokens),
        dead_letters: deadLetters,
        halted: halted && deadLetterJson(halted, plainCommand),
      };
    },
  };
}

function tokenFields({ tokens, unreadable }: TokenStatus) {
  return { tokens, holdings_unreadable: unreadable };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const WRITER_STOPPED: Obstacle = ['failed', 'the writer has stopped by itself; see the log'];

/** Updates that are missing although the ingest continues, as `degraded` reports them. */
function quarantinedLines({ quarantined = 0 }: Readonly<Record<string, number>>, print = plainCommand): string[] {
  if (quarantined === 0) return [];
  const are = quarantined === 1 ? 'is' : 'are';
  return [`${counted(quarantined, 'update')} ${are} quarantined; see ${print(LIST)}`];
}

/** Where the ledger explains changes in another way, since the start. */
function legsLines({ legsDiffer, firstLegsDifference: first }: IngestStatus['counts']): string[] {
  if (first === null) return [];
  const changes = `${counted(legsDiffer, 'change')} of accounts`;
  return [`EventLog events differ from ${changes}, which totals do not depend on; the first is in ${first}`];
}

/** Null where the source was applied to its end recently enough, or there is none. */
function ingestObstacle(status: IngestStatus, readyLagMaxMs: number): Obstacle | null {
  const { phase, source, halted } = status;
  if (phase === 'caught_up') return null;
  // A stored halt is known before the source is opened.
  if (phase === 'starting' && halted !== null) return ['halted', haltLine(halted, plainCommand)];
  if (phase !== 'reading') return [phase, phaseReason(status)];
  if (source === null) return ['starting', phaseReason(status)];
  const reasons = sourceReasons(source, readyLagMaxMs);
  return reasons.length === 0 ? null : ['behind', ...reasons];
}

function phaseReason({ phase, halted, lastError }: IngestStatus): string {
  switch (phase) {
    case 'halted':
    case 'waiting_for_clock':
      return halted === null ? 'halted' : haltLine(halted, plainCommand);
    case 'refused':
      return lastError?.message ?? 'the feed is refused';
    case 'retrying':
      return `ingest is unavailable (${lastError?.message ?? 'unknown'}); it is tried again`;
    default:
      return `ingest is ${phase}`;
  }
}

/** Why a source lags; empty where everything in it was applied recently enough. */
function sourceReasons({ kind, status }: NonNullable<IngestStatus['source']>, readyLagMaxMs: number): string[] {
  const { stopped, caughtUpAt, lagMessages, blocking } = status;
  if (stopped !== null) return [stopped];
  const agoMs = caughtUpAt === null ? null : Date.now() - caughtUpAt;
  // A time in the future was read from a clock that has been set back since, and means nothing.
  if (agoMs !== null && Math.abs(agoMs) < readyLagMaxMs) return [];
  const since =
    agoMs === null
      ? 'since the start'
      : agoMs < 0
        ? 'since the clock was set back'
        : `for ${Math.floor(agoMs / 1000)} s`;
  const behind = lagMessages === null ? '' : `: ${counted(lagMessages, 'message')} behind`;
  return [`the ${kind} was not applied to its end ${since}${behind}`, ...blocking];
}

/** Of the phases in which it does not read. */
const STREAM_PHASES: Readonly<Partial<Record<IngestStatus['phase'], StreamStatus['phase']>>> = {
  starting: 'starting',
  halted: 'halted',
  waiting_for_clock: 'halted',
  refused: 'halted',
  stopped: 'stopping',
};

/** The ingest's status for streams. */
export function streamStatus(
  status: IngestStatus,
  { ready, reasons, degraded }: Readiness,
  readyLagMaxMs: number,
): StreamStatus {
  const { phase, source, counts, halted, lastError } = status;
  const unavailable = phase === 'retrying' ? [phaseReason(status)] : [];
  const isCaughtUp = ingestObstacle(status, readyLagMaxMs) === null;
  // A feed that is refused has no message at which it is halted.
  const refused = { location: source?.name ?? 'the feed', reason: lastError?.message ?? 'it is refused' };
  return {
    phase: STREAM_PHASES[phase] ?? (isCaughtUp ? 'caught_up' : 'reading'),
    lag_seconds: source?.status.lagSeconds ?? null,
    updates: counts.updates,
    halted: phase === 'refused' ? refused : halted && locationAndReason(halted),
    degraded: [...unavailable, ...degraded],
    ready,
    reasons: [...reasons],
    source: phase === 'caught_up' ? null : (source?.name ?? null),
  };
}

/** Of a process that only reads the views: the lag of the writer is not stored. */
export function readOnlyStreamStatus({ halted }: StoredStatus, { ready, reasons, degraded }: Readiness): StreamStatus {
  return {
    phase: halted === null ? 'caught_up' : 'halted',
    lag_seconds: null,
    updates: 0,
    halted: halted && locationAndReason(halted),
    // The halt is the first of them.
    degraded: degraded.slice(halted === null ? 0 : 1),
    ready,
    reasons: [...reasons],
    source: null,
  };
}

function locationAndReason(deadLetter: DeadLetterFacts): StreamStatus['halted'] {
  return { location: locationText(deadLetter), reason: deadLetter.reason };
}
