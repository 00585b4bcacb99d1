import { useEffect, useState } from 'preact/hooks';
import { HoldfastError, type Schemas } from '../../../client/src/index.ts';
import { client, type Status } from './api.ts';
import { showShortSpan } from './time.ts';

type StreamStatus = Schemas['StreamStatus'];

/** The newest events of the stream. */
export interface Live {
  readonly connection: 'connecting' | 'live' | 'lost';
  readonly status: StreamStatus | null;
  /** Updates per second between the last two statuses; null before the second. */
  readonly rate: number | null;
  /** The id of the newest snapshot. */
  readonly snapshot: string | null;
  /** Changes when the history of the owner may have changed. */
  readonly ownerChange: string | null;
}

/** The client repeats only what may pass by itself. */
const RETRY_MS = 3_000;
/** While updates come, a status comes every 5 s at least. */
const IDLE_MS = 10_000;

export function useLive(owner: string | null): Live {
  const [live, setLive] = useState<Live>({
    connection: 'connecting',
    status: null,
    rate: null,
    snapshot: null,
    ownerChange: null,
  });
  useEffect(() => {
    const stop = new AbortController();
    const report = (change: Partial<Live>): void => setLive((now) => ({ ...now, ...change }));
    followAgain(owner, stop.signal, report);
    return () => stop.abort();
  }, [owner]);
  return live;
}

/** Asks again whatever the answer was: it may be that of a proxy while there is no service. */
async function followAgain(owner: string | null, signal: AbortSignal, report: (change: Partial<Live>) => void) {
  for (let asked = owner; !signal.aborted; ) {
    const error: unknown = await follow(asked, signal, report).catch((thrown: unknown) => thrown);
    const isRefused = asked !== null && error instanceof HoldfastError && error.code === 'refused';
    // Of a party that is not followed there is nothing to send.
    if (isRefused) asked = null;
    else if (!signal.aborted) report({ connection: 'lost', rate: null });
    // The browser has asked a person for the key, and would do so each time.
    if (error instanceof HoldfastError && error.status === 401) return;
    if (!isRefused) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Follows the stream until the signal is aborted. After a break the service sends the missed events. */
async function follow(owner: string | null, signal: AbortSignal, report: (change: Partial<Live>) => void) {
  let idle: ReturnType<typeof setTimeout> | undefined;
  let counted: { readonly updates: number; readonly atMs: number } | null = null;
  let isFirst = true;

  function reportStatus(status: StreamStatus): void {
    const { updates } = status;
    const atMs = performance.now();
    const rate = counted && Math.max(0, ((updates - counted.updates) * 1000) / Math.max(1, atMs - counted.atMs));
    counted = { updates, atMs };
    report({ connection: 'live', status, rate });
    clearTimeout(idle);
    idle = setTimeout(() => report({ rate: 0 }), IDLE_MS);
  }

  function lose(): void {
    counted = null;
    clearTimeout(idle);
    report({ connection: 'lost', rate: null });
  }

  const onConnection = (lost: Error | null): void => void (lost && lose());
  const owners = owner === null ? [] : [owner];
  for await (const { event, id, data } of client.stream({ owners, signal, onConnection })) {
    if (event === 'status') reportStatus(data);
    if (event === 'owner') report({ ownerChange: data.record_time });
    if (event !== 'snapshot' && event !== 'reset') continue;
    // Events before it may be missing, those of the owner too.
    const isGap = isFirst || event === 'reset' || data.skipped === true;
    isFirst = false;
    report(isGap ? { snapshot: id, ownerChange: id } : { snapshot: id });
  }
  clearTimeout(idle);
}

/** The state of the service, for the header and the feed's card. */
export interface ServiceState {
  /** Good only while the service is ready and follows a source. */
  readonly tone: 'good' | 'busy' | 'calm' | 'bad';
  readonly text: string;
  /** Empty if the text says it all. */
  readonly reasons: readonly string[];
  /** Nothing is read: stored data has an age. */
  readonly isStored: boolean;
}

/** `status` is the last answer of /status; null before the first. */
export function serviceState({ connection, status: live }: Live, status: Status | null): ServiceState {
  const of = (tone: ServiceState['tone'], text: string, reasons: readonly string[] = [], isStored = false) => {
    return { tone, text, reasons, isStored };
  };
  if (connection === 'lost') return of('bad', 'Connection lost, reconnecting');
  if (live === null || status === null) return of('calm', 'Connecting');
  const { phase, halted, ready, reasons, source } = live;
  if (halted !== null) return of('bad', 'Halted', [halted.reason]);
  if (phase === 'starting') return of('calm', 'Starting', reasons);
  if (phase === 'stopping') return of('calm', 'Stopping');
  const isReadOnly = status.phase === 'read_only';
  if (!ready && (source !== null || isReadOnly)) return of('busy', 'Not ready', reasons);
  if (source !== null) return of('good', ['Live', lagText(live), hostOf(source)].filter(Boolean).join(' · '));
  const own = status.source === null ? 'no source' : `${hostOf(status.source.name)} has ended`;
  return of('calm', `${ready ? 'Stored' : 'No'} data · ${isReadOnly ? 'written by another process' : own}`, [], true);
}

function lagText({ lag_seconds: lag }: StreamStatus): string {
  return lag === null ? '' : `${showShortSpan(lag)} behind`;
}

/** The host in the name of a source, or the end of its path. */
function hostOf(source: string): string {
  return /https?:\/\/([^/\s]+)/.exec(source)?.[1] ?? source.split('/').at(-1)!.slice(0, 40);
}
