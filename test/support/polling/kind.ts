import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, Source, SourceContext, SourceKind } from '../../../src/feed/source.ts';

/**
 * A source that nothing in src knows: updates polled over HTTP, as a Scan gives them. Its cursor is no offset but the migration and
 * the record time of the last update, `<migration id> <record time>`, and asking for it gives what comes behind.
 */
const POLLING_KIND: SourceKind<PollingSettings, Heard> = {
  kind: 'network',
  readAnew: null,
  placeOf: ({ offset, cursor = null }) => ({ item: offset, up_to: cursor }),
  open: async (settings, context) => openPolling(settings, context),
  watch: null,
  follow:
    (name) =>
    ({ heard, lanes, refused }) => ({
      stopped: refused ?? (heard === null ? `${name} is not read to its end yet` : heard.stopped),
      holding: [],
      caughtUpAt: heard?.caughtUpAt ?? null,
      lagMessages: null,
      details: { cursor: lanes.get(LANE)?.cursor ?? null, pages: heard?.pages ?? 0 },
    }),
};
// The module is named by its address, and this is what is looked for in it.
export default POLLING_KIND;

export interface PollingSettings {
  readonly url: string;
  readonly pageSize: number;
}

interface Heard {
  readonly stopped: string | null;
  readonly caughtUpAt: number | null;
  readonly pages: number;
}

interface Item {
  readonly migration_id: number;
  readonly record_time: string;
}

const LANE = 'updates';
const START = 'start';
const PAUSE_MS = 20;

function openPolling({ url, pageSize }: PollingSettings, { stored }: SourceContext): Source<Heard> {
  let cursor = stored.lanes.get(LANE)?.cursor ?? START;
  let isOnDisk = cursor;
  let identity = stored.identity;
  let number = 0;
  let heard: Heard = { stopped: `connecting to ${url}`, caughtUpAt: null, pages: 0 };

  async function get<T>(path: string, signal: AbortSignal): Promise<T> {
    const response = await fetch(`${url}${path}`, { signal });
    if (!response.ok) throw new Error(`${url}${path} answers ${response.status}`);
    return (await response.json()) as T;
  }

  function messageOf(item: Item): Message {
    cursor = `${item.migration_id} ${item.record_time}`;
    number += 1;
    return { lane: LANE, offset: number, cursor, bytes: Buffer.from(JSON.stringify(item)) };
  }

  async function page(signal: AbortSignal): Promise<readonly Message[]> {
    const askedAt = Date.now();
    identity ??= (await get<{ network: string }>('/network', signal)).network;
    const after = cursor === START ? '' : `&after=${encodeURIComponent(cursor)}`;
    const { transactions } = await get<{ transactions: Item[] }>(`/updates?page_size=${pageSize}${after}`, signal);
    const isAtEnd = transactions.length === 0 && isOnDisk === cursor;
    heard = { stopped: null, caughtUpAt: isAtEnd ? askedAt : heard.caughtUpAt, pages: heard.pages + 1 };
    return transactions.map(messageOf);
  }

  return {
    name: `network ${url}`,
    async *batches(signal) {
      while (!signal.aborted) {
        try {
          const messages = await page(signal);
          yield messages;
          if (messages.length === pageSize) continue;
        } catch (error) {
          if (!signal.aborted) heard = { ...heard, stopped: `cannot read ${url}: ${(error as Error).message}` };
        }
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    },
    progress: () => ({ read: 0, total: null }),
    start: () => (identity === null ? null : startOf(identity)),
    stored: (cursors) => {
      isOnDisk = cursors.get(LANE) ?? isOnDisk;
    },
    heard: () => heard,
  };
}

const starts = new Map<string, { identity: string; cursors: ReadonlyMap<string, string> }>();

/** The same object each time: another one would be news. */
function startOf(identity: string): { identity: string; cursors: ReadonlyMap<string, string> } {
  const known = starts.get(identity) ?? { identity, cursors: new Map([[LANE, START]]) };
  starts.set(identity, known);
  return known;
}
