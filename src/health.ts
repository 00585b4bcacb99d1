import { FILE_PARTITION } from './chunk/chunk.ts';
import { counted } from './counted.ts';
import { nextText, plainCommand } from './dead-letters/advice-text.ts';
import { haltLine } from './dead-letters/halt-line.ts';
import type { HoldingsStore } from './holdings/facts.ts';
import type { Health, Readiness } from './http/service/health.ts';
import type { IngestStatus, SourceStatus, TopicStatus } from './ingest/status.ts';
import { formatTime } from './ledger/time.ts';

/** What /readyz and /status say, from where ingest stands and what the views hold (interface.md section 3). */
export function createHealth({
  store,
  status,
  version,
  failure,
  readyLagMaxMs,
  clockMs,
}: {
  store: HoldingsStore;
  status: () => IngestStatus;
  version: string;
  /** What ended the writer's thread, once it has ended by itself. */
  failure: () => Error | null;
  /** How long ago everything there may have been applied last. */
  readyLagMaxMs: number;
  clockMs: () => number;
}): Health {
  return {
    async ready() {
      const hasSnapshot = (await store.facts({ kind: 'newest snapshots' })).length > 0;
      return readiness(status(), { hasSnapshot, failure: failure(), readyLagMaxMs, now: clockMs() });
    },
    async status() {
      const newest = await store.facts({ kind: 'newest snapshots' });
      const { phase, source, halted, counts, deadLetters, lastError, dso } = status();
      return {
        version,
        phase,
        source: source && {
          name: source.name,
          ...(source.isTopic
            ? { position: source.position, topic: source.topic && topicAnswer(source.topic) }
            : fileAnswer(source, phase)),
        },
        snapshots: newest.map(({ migrationId, recordTime }) => ({
          migration_id: migrationId,
          record_time: formatTime(recordTime),
        })),
        dso: dso.party,
        dso_pinned: dso.pinned,
        counts: {
          updates: counts.updates,
          events: counts.events,
          redelivered: counts.redelivered,
          imports_late: counts.importsLate,
          creates_repeated: counts.createsRepeated,
          counterfeits: counts.counterfeits,
          checkpoints: counts.checkpoints,
          checkpoints_behind: counts.checkpointsBehind,
          decided: counts.decided,
          ignored: counts.ignored,
        },
        dead_letters: deadLetters,
        halted: halted && {
          dead_letter: halted.id,
          kind: halted.kind,
          code: halted.code,
          source: halted.source,
          partition: halted.partition < 0 ? null : halted.partition,
          offset: halted.offset,
          migration_id: halted.migrationId,
          update_id: halted.updateId,
          record_time: halted.recordTime === null ? null : formatTime(halted.recordTime),
          field: halted.field,
          given: halted.given,
          expected: halted.expected,
          reason: halted.reason,
          next: nextText(halted, plainCommand),
        },
        last_error: lastError,
      };
    },
  };
}

function readiness(
  status: IngestStatus,
  { hasSnapshot, failure, ...lag }: { hasSnapshot: boolean; failure: Error | null; readyLagMaxMs: number; now: number },
): Readiness {
  const reasons: string[] = [];
  if (failure !== null) reasons.push('the writer has stopped by itself; see the log');
  else if (status.phase === 'reading' && status.source?.topic) reasons.push(...topicReasons(status.source.topic, lag));
  else if (status.phase !== 'caught_up') reasons.push(phaseReason(status));
  if (!hasSnapshot) reasons.push('no snapshot is sealed yet');
  const quarantined = status.deadLetters.quarantined ?? 0;
  const degraded =
    quarantined === 0
      ? []
      : [
          `${counted(quarantined, 'update')} ${quarantined === 1 ? 'is' : 'are'} quarantined; see holdfast dead-letters list`,
        ];
  return { ready: reasons.length === 0, reasons, degraded };
}

function phaseReason({ phase, source, halted, lastError }: IngestStatus): string {
  switch (phase) {
    case 'halted':
    case 'waiting_for_clock':
      return halted === null ? 'halted' : haltLine(halted, plainCommand);
    case 'refused':
      return lastError?.message ?? 'the feed is refused';
    case 'retrying':
      return `ingest is unavailable (${lastError?.message ?? 'unknown'}); tried again by itself`;
    case 'reading':
      return `${source?.name ?? 'the source'} is not read to its end yet`;
    default:
      return `ingest is ${phase}`;
  }
}

/** Why a topic is behind; nothing where everything there was applied not long ago. */
function topicReasons(topic: TopicStatus, { readyLagMaxMs, now }: { readyLagMaxMs: number; now: number }): string[] {
  if (topic.stopped !== null) return [topic.stopped];
  const agoMs = topic.caughtUpAt === null ? null : now - topic.caughtUpAt;
  // A time that lies ahead was told by a clock that has been set back since, and says nothing.
  if (agoMs !== null && Math.abs(agoMs) < readyLagMaxMs) return [];
  const lag = topic.partitions.reduce((sum, partition) => sum + (partition.lag ?? 0), 0);
  const since =
    agoMs === null
      ? 'since the start'
      : agoMs < 0
        ? 'since the clock was set back'
        : `for ${Math.floor(agoMs / 1000)} s`;
  return [`the topic was not applied to its end ${since}: ${counted(lag, 'message')} behind`, ...topic.holding];
}

/** A file is read from its start to its end, and at its end it is 0 behind. */
function fileAnswer({ position, readBytes, totalBytes }: SourceStatus, phase: IngestStatus['phase']): object {
  const left = readBytes === null || totalBytes === null ? null : totalBytes - readBytes;
  return {
    position: { next_message: position[FILE_PARTITION] ?? null },
    read_bytes: readBytes,
    total_bytes: totalBytes,
    lag_bytes: phase === 'caught_up' ? 0 : left,
  };
}

function topicAnswer(topic: TopicStatus): object {
  const { newestRecordTime } = topic;
  return {
    stopped: topic.stopped,
    holding: topic.holding,
    lacking: topic.lacking,
    caught_up_at: topic.caughtUpAt === null ? null : new Date(topic.caughtUpAt).toISOString(),
    lag_seconds: lagSeconds(topic),
    newest_record_time: newestRecordTime === null ? null : formatTime(newestRecordTime),
    partitions: topic.partitions.map(({ partition, firstOffset, nextOffset, endOffset, lag, passedOver }) => ({
      partition,
      first_offset: firstOffset,
      next_offset: nextOffset,
      end_offset: endOffset,
      lag,
      passed_over: passedOver,
    })),
  };
}

/** Where nothing that names a time was read since the start, only the end of the topic tells. */
function lagSeconds({ newestRecordTime, appliedRecordTime, partitions }: TopicStatus): number | null {
  if (newestRecordTime !== null && appliedRecordTime !== null)
    return Math.max(0, newestRecordTime - appliedRecordTime) / 1_000_000;
  return partitions.length > 0 && partitions.every(({ lag }) => lag === 0) ? 0 : null;
}
