import { useEffect, useState } from 'preact/hooks';
import { type ApiRequest, type RequestError, type Shown, send } from './api.ts';

/** A request that failed for now is sent again after this time. */
const RETRY_MS = 3_000;

export interface Asked<Answer> {
  /** The newest answer; while a request is under way, that of the request before. */
  readonly answer: Answer | null;
  /** The failure of the last request. */
  readonly error: RequestError | null;
  readonly busy: boolean;
  /** Whether the answer is that of the request now, and not of the one before. */
  readonly isCurrent: boolean;
  readonly retry: () => void;
}

interface State<Answer> extends Pick<Asked<Answer>, 'answer' | 'error' | 'busy'> {
  /** The request of the answer. */
  readonly key: string | null;
}

/** Sends the request whenever it or `refresh` changes; null sends nothing. */
export function useAnswer<Answer>(request: ApiRequest<Answer> | null, refresh: unknown = null): Asked<Answer> {
  const [state, setState] = useState<State<Answer>>({ answer: null, error: null, busy: true, key: null });
  const [attempt, setAttempt] = useState(0);
  const retry = (): void => setAttempt((count) => count + 1);
  const key = request && JSON.stringify(request);
  // The key is the request; the others only say when to send it again.
  useEffect(() => {
    if (request === null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setState((now) => ({ ...now, busy: true }));
    send(request, stop.signal).then(
      (answer) =>
        setState((now) => ({
          answer: isSame(now.answer, answer) ? now.answer : answer,
          error: null,
          busy: false,
          key,
        })),
      (error: RequestError) => {
        if (stop.signal.aborted) return;
        // The last answer stays while the service is away, but is not shown as the answer to a wrong request.
        setState((now) => ({ answer: error.isTemporary ? now.answer : null, error, busy: false, key: now.key }));
        if (error.isTemporary) timer = setTimeout(retry, RETRY_MS);
      },
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key, refresh, attempt]);
  return { ...state, isCurrent: state.key === key, retry };
}

/** An equal answer changes nothing: the chart under the pointer, for example, is not drawn again. */
function isSame(before: unknown, now: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(now);
}

/** The value, changed at most once per interval; the last change is never lost. */
export function usePaced<Value>(value: Value, intervalMs: number): Value {
  const [shown, setShown] = useState({ value, atMs: 0 });
  useEffect(() => {
    if (Object.is(value, shown.value)) return;
    const waitMs = Math.max(0, shown.atMs + intervalMs - performance.now());
    const timer = setTimeout(() => setShown({ value, atMs: performance.now() }), waitMs);
    return () => clearTimeout(timer);
  }, [value, shown, intervalMs]);
  return shown.value;
}

/** The browser's clock, for ages. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
}

/** What is shown, following the newest snapshot at most once per interval, and a chosen time at once. */
export function usePacedHere(here: Shown, intervalMs: number): Shown {
  const paced = usePaced(here, intervalMs);
  return paced.at === here.at && here.at === null ? paced : here;
}

/** What is typed in a field, which begins with a value and follows it: another drawing must not undo the typing. */
export function useTyped(value: string): readonly [typed: string, type: (text: string) => void] {
  const [typed, type] = useState(value);
  useEffect(() => type(value), [value]);
  return [typed, type];
}
