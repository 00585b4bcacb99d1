import type { StreamStatus } from '../../http/insight/stream/operation.ts';
import { ROOT } from './root.ts';

export interface StreamListener {
  readonly opened: () => void;
  readonly lost: () => void;
  readonly status: (status: StreamStatus) => void;
  /** A snapshot was sealed, or the stream begins; `gap`: of what lies before it nothing may have been told, of owners neither. */
  readonly snapshot: (id: string, gap: boolean) => void;
  /** What an owner that was asked for has has changed. */
  readonly owner: (recordTime: string) => void;
}

/** The browser tries again by itself only where a connection broke, not where the answer was an error. */
const RETRY_MS = 3_000;

/** Follows the stream of the service until the returned function is called; what was missed meanwhile is told after a break. */
export function followStream(owner: string | null, listener: StreamListener): () => void {
  let source: EventSource | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let lastId = '';
  const open = (): void => {
    const url = new URL('holdfast/v1/stream', ROOT);
    if (owner !== null) url.searchParams.set('owner', owner);
    if (lastId !== '') url.searchParams.set('last_event_id', lastId);
    source = new EventSource(url);
    source.addEventListener('open', listener.opened);
    source.addEventListener('error', () => {
      listener.lost();
      if (source?.readyState === EventSource.CLOSED) retry = setTimeout(open, RETRY_MS);
    });
    source.addEventListener('status', ({ data }) => listener.status(JSON.parse(data)));
    source.addEventListener('owner', ({ data }) => listener.owner(JSON.parse(data).record_time));
    for (const name of ['snapshot', 'reset'])
      source.addEventListener(name, ({ lastEventId, data }: MessageEvent) => {
        const gap = lastId === '' || name === 'reset' || JSON.parse(data).skipped === true;
        lastId = lastEventId;
        listener.snapshot(lastId, gap);
      });
  };
  open();
  return () => {
    clearTimeout(retry);
    source?.close();
  };
}
