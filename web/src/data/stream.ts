import type { StreamStatus } from '../../../src/http/insight/stream/operation.ts';
import { linkTo } from './place.ts';

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

/** The browser tries again by itself only where a connection broke, not where the answer was an error. */
const RETRY_MS = 3_000;
/** While updates come, a status comes every 5 s at least. */
const IDLE_MS = 10_000;

/** Follows the stream of the service until the returned function is called; what was missed meanwhile is told after a break. */
export function followStream(owner: string | null, change: (news: Partial<Live>) => void): () => void {
  let source: EventSource | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let counted: { readonly updates: number; readonly atMs: number } | null = null;
  let lastId = '';

  function open(): void {
    source = new EventSource(
      linkTo('holdfast/v1/stream', { owner: owner ?? undefined, last_event_id: lastId || undefined }),
    );
    source.addEventListener('open', () => change({ connection: 'live' }));
    source.addEventListener('error', lose);
    source.addEventListener('status', ({ data }) => tell(JSON.parse(data)));
    source.addEventListener('owner', ({ data }) => change({ ownerNews: JSON.parse(data).record_time }));
    for (const name of ['snapshot', 'reset'])
      source.addEventListener(name, ({ lastEventId: snapshot, data }: MessageEvent) => {
        // Of what lies before it nothing may have been told, of the owner neither.
        const isGap = lastId === '' || name === 'reset' || JSON.parse(data).skipped === true;
        lastId = snapshot;
        change(isGap ? { snapshot, ownerNews: snapshot } : { snapshot });
      });
  }

  function lose(): void {
    counted = null;
    clearTimeout(idle);
    change({ connection: 'lost', rate: null });
    if (source?.readyState === EventSource.CLOSED) retry = setTimeout(open, RETRY_MS);
  }

  function tell(status: StreamStatus): void {
    const { updates } = status;
    const atMs = performance.now();
    const rate = counted && Math.max(0, ((updates - counted.updates) * 1000) / Math.max(1, atMs - counted.atMs));
    counted = { updates, atMs };
    change({ connection: 'live', status, rate });
    clearTimeout(idle);
    idle = setTimeout(() => change({ rate: 0 }), IDLE_MS);
  }

  open();
  return () => {
    clearTimeout(retry);
    clearTimeout(idle);
    source?.close();
  };
}
