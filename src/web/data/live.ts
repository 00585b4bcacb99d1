import { useEffect, useState } from 'preact/hooks';
import type { StreamStatus } from '../../http/insight/stream/status.ts';
import { followStream } from './stream.ts';

/** What the stream has told so far. */
export interface Live {
  readonly connection: 'connecting' | 'live' | 'lost';
  readonly status: StreamStatus | null;
  /** Updates a second between the last two words about them; null before the second. */
  readonly rate: number | null;
  /** The id of the newest snapshot: another one is news to ask for. */
  readonly snapshot: string | null;
  /** Another text whenever the owner's history may be another one. */
  readonly ownerNews: string | null;
}

const NOTHING: Live = { connection: 'connecting', status: null, rate: null, snapshot: null, ownerNews: null };

export function useLive(owner: string | null): Live {
  const [live, setLive] = useState(NOTHING);
  useEffect(() => {
    let counted: { readonly updates: number; readonly atMs: number } | null = null;
    const change = (news: Partial<Live>): void => setLive((now) => ({ ...now, ...news }));
    return followStream(owner, {
      opened: () => change({ connection: 'live' }),
      lost: () => {
        counted = null;
        change({ connection: 'lost', rate: null });
      },
      status: (status) => {
        const now = { updates: status.updates, atMs: performance.now() };
        change({ connection: 'live', status, rate: counted === null ? null : rateBetween(counted, now) });
        counted = now;
      },
      snapshot: (snapshot, gap) => change(gap ? { snapshot, ownerNews: snapshot } : { snapshot }),
      owner: (ownerNews) => change({ ownerNews }),
    });
  }, [owner]);
  return live;
}

function rateBetween(
  before: { readonly updates: number; readonly atMs: number },
  now: { readonly updates: number; readonly atMs: number },
): number {
  return Math.max(0, ((now.updates - before.updates) * 1000) / Math.max(1, now.atMs - before.atMs));
}

/** The value, but at most one change in so long a time; the last one is never lost. */
export function usePaced<Value>(value: Value, everyMs: number): Value {
  const [shown, setShown] = useState({ value, atMs: 0 });
  useEffect(() => {
    if (Object.is(value, shown.value)) return;
    const waitMs = Math.max(0, shown.atMs + everyMs - performance.now());
    const timer = setTimeout(() => setShown({ value, atMs: performance.now() }), waitMs);
    return () => clearTimeout(timer);
  }, [value, shown, everyMs]);
  return shown.value;
}

/** Our clock, for what is said of ages. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
