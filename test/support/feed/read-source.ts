import { expect, vi } from 'vitest';
import type { NetworkTelemetry } from '../../../src/feed/network/network-progress.ts';
import { LANE } from '../../../src/feed/network/snapshot-import.ts';
import type { Reached, SourceContext, SourceKind, SourceStart, StoredLane } from '../../../src/feed/source.ts';
import { keepingLogger, type LogLine } from '../kafka/reading.ts';

/** A network source that is read in this process, as the ingest reads it, but without views. */
export interface ReadSource extends AsyncDisposable {
  /** The messages, each once. A snapshot import that restarts drops them. */
  readonly lines: string[];
  readonly starts: readonly SourceStart[];
  readonly log: readonly LogLine[];
  readonly telemetry: NetworkTelemetry;
  /** Waits until what `/status` and `/readyz` show, with `updates`, the number of lines, is as wanted. */
  until(wanted: object): Promise<void>;
  /** Why it is refused, once it is. */
  refusal(): Promise<string>;
  /** What the next start begins with. */
  context(): Partial<SourceContext>;
}

export async function readSource<Settings>(
  kind: SourceKind<Settings, NetworkTelemetry>,
  settings: Settings,
  context: Partial<SourceContext> = {},
): Promise<ReadSource> {
  const logger = keepingLogger();
  const stored = context.stored ?? { identity: null, lanes: new Map<string, StoredLane>() };
  const source = await kind.open(settings, {
    ...{ stored, reached: null, furthest: null, directoryId: '', migrationId: 0, logger },
    ...context,
  });
  const stop = new AbortController();
  const lines: string[] = [];
  const seen = new Set<string>();
  const starts: SourceStart[] = [];
  const lanes = new Map(stored.lanes);
  let [identity, furthest]: [string | null, Reached | null] = [stored.identity, context.furthest ?? null];
  let failure: Error | null = null;
  const store = (lane: string, resumeToken: string): void =>
    void lanes.set(lane, { start: resumeToken, resumeToken, sha256: null });

  const reading = (async () => {
    for await (const batch of source.batches(stop.signal)) {
      if ('identity' in batch) {
        if (batch.restarts === true) {
          lines.length = 0;
          seen.clear();
        }
        starts.push(batch);
        identity = batch.identity;
        for (const [lane, resumeToken] of batch.resumeTokens) store(lane, resumeToken);
        continue;
      }
      for (const { bytes, resumeToken, decoded } of batch) {
        const line = Buffer.from(bytes!).toString();
        if (!seen.has(line)) lines.push(line);
        seen.add(line);
        store(LANE, resumeToken!);
        if ((decoded?.kind !== 'update' && decoded?.kind !== 'import marker') || decoded.recordTime === null) continue;
        const { migrationId, recordTime } = decoded;
        if (furthest === null || recordTime > furthest.recordTime) furthest = { migrationId, recordTime };
      }
      source.stored?.(new Map([...lanes].map(([lane, { resumeToken }]) => [lane, resumeToken])), furthest);
    }
  })().catch((error: Error) => {
    failure = error;
  });

  function shown(): object {
    const state = { telemetry: source.telemetry!(), progress: source.progress(), lanes, appliedRecordTime: null };
    const rest = { mayLeaveGap: false, refused: failure?.message ?? null, isAtEnd: false };
    const status = kind.status('it', { ...state, ...rest });
    return { ...status, ...status.details, updates: lines.length };
  }

  return {
    lines,
    starts,
    log: logger.lines,
    get telemetry() {
      return source.telemetry!();
    },
    until: (wanted) => waitFor(() => expect(shown()).toMatchObject(wanted)),
    async refusal() {
      await reading;
      return failure?.message ?? 'it ended';
    },
    context: () => ({
      stored: { identity, lanes, followed: starts.at(-1)?.followed ?? null },
      furthest,
      reached: furthest,
      lastUpdate: furthest,
    }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reading;
    },
  };
}

/** As `expect.poll`, which does not know its test where tests run at the same time. */
export function waitFor(holds: () => void): Promise<void> {
  return vi.waitFor(holds, { timeout: 60_000, interval: 20 });
}

/** Lines as values to compare, without what only a source or only a test's file writes in an import and its marker. */
export function valuesOf(lines: readonly string[]): Record<string, unknown>[] {
  return lines.map((line) => {
    const { seed, events_by_id: events, ...rest } = JSON.parse(line) as Record<string, unknown>;
    if (seed === undefined) return events === undefined ? rest : { ...rest, events };
    if (seed !== true) {
      const { migration_id, record_time, offset } = seed as Record<string, unknown>;
      return { migration_id, offset, record_time: Date.parse(String(record_time)) };
    }
    const [event] = Object.values(events as Record<string, Record<string, unknown>>);
    const { created_in_update_id: _, ...created } = event!;
    return { ...rest, created };
  });
}
