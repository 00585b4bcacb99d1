import { useEffect, useState } from 'preact/hooks';
import type { StreamStatus } from '../../http/insight/stream/operation.ts';
import { followStream } from './stream.ts';

/** While updates come, a status comes every 5 s at least. */
const IDLE_MS = 10_000;

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
    let idle: ReturnType<typeof setTimeout> | undefined;
    let counted: { readonly updates: number; readonly atMs: number } | null = null;
    const change = (news: Partial<Live>): void => setLive((now) => ({ ...now, ...news }));
    const end = followStream(owner, {
      opened: () => change({ connection: 'live' }),
      lost: () => {
        counted = null;
        clearTimeout(idle);
        change({ connection: 'lost', rate: null });
      },
      status: (status) => {
        const now = { updates: status.updates, atMs: performance.now() };
        change({ connection: 'live', status, rate: counted === null ? null : rateBetween(counted, now) });
        counted = now;
        clearTimeout(idle);
        idle = setTimeout(() => change({ rate: 0 }), IDLE_MS);
      },
      snapshot: (snapshot, gap) => change(gap ? { snapshot, ownerNews: snapshot } : { snapshot }),
      owner: (ownerNews) => change({ ownerNews }),
    });
    return () => {
      clearTimeout(idle);
      end();
    };
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
