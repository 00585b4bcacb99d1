import { useEffect, useState } from 'preact/hooks';
import { followStream, type Live } from './stream.ts';

const NOTHING: Live = { connection: 'connecting', status: null, rate: null, snapshot: null, ownerNews: null };

export function useLive(owner: string | null): Live {
  const [live, setLive] = useState(NOTHING);
  useEffect(() => followStream(owner, (news) => setLive((now) => ({ ...now, ...news }))), [owner]);
  return live;
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
