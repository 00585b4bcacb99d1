import { useEffect, useState } from 'preact/hooks';
import { type ApiRequest, type AskError, ask } from './ask.ts';

/** After this long a request that may then succeed is sent again. */
const RETRY_MS = 3_000;

export interface Asked<Answer> {
  /** The newest answer; that to an earlier request while a later one is under way. */
  readonly answer: Answer | null;
  /** Why the last request was not answered. */
  readonly error: AskError | null;
  readonly busy: boolean;
  readonly again: () => void;
}

/** Sends the request, and again whenever it or `refresh` changes; null: nothing to ask yet. */
export function useAnswer<Answer>(request: ApiRequest<Answer> | null, refresh: unknown = null): Asked<Answer> {
  const [state, setState] = useState<Omit<Asked<Answer>, 'again'>>({ answer: null, error: null, busy: true });
  const [attempt, setAttempt] = useState(0);
  const again = (): void => setAttempt((count) => count + 1);
  const key = request && JSON.stringify(request);
  // The key is the request; the others only say when to ask again.
  useEffect(() => {
    if (request === null) return;
    const stop = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    setState((now) => ({ ...now, busy: true }));
    ask(request, stop.signal).then(
      (answer) =>
        setState((now) => ({ answer: isSame(now.answer, answer) ? now.answer : answer, error: null, busy: false })),
      (error: AskError) => {
        if (stop.signal.aborted) return;
        // What was shown stays while the service is away, but is not passed off as the answer to a wrong request.
        setState((now) => ({ answer: error.passes ? now.answer : null, error, busy: false }));
        if (error.passes) retry = setTimeout(again, RETRY_MS);
      },
    );
    return () => {
      stop.abort();
      clearTimeout(retry);
    };
  }, [key, refresh, attempt]);
  return { ...state, again };
}

/** An equal answer is no news: the chart under the pointer, say, is not drawn again. */
function isSame(before: unknown, now: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(now);
}
