import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, Source, SourceContext, SourceKind } from '../../../src/feed/source.ts';

/**
 * A source that nothing in src knows: updates polled over HTTP, as a Scan gives them. Its cursor is no offset but the migration and
 * the record time of the last update, `<migration id> <record time>`, and asking for it gives what comes after.
 */
const POLLING_KIND: SourceKind<PollingSettings, Telemetry> = {
  kind: 'polled network',
  resumes: true,
  placeOf: ({ offset, cursor = null }) => ({ item: offset, up_to: cursor }),
  open: async (settings, context) => openPolling(settings, context),
  follow: (name) => ({
    status: ({ telemetry, lanes, refused }) => ({
      stopped: refused ?? (telemetry === null ? `${name} is not read to its end yet` : telemetry.stopped),
      blocking: [],
      caughtUpAt: telemetry?.caughtUpAt ?? null,
      lagMessages: null,
      lagBytes: null,
      lagSeconds: null,
      details: { cursor: lanes.get(LANE)?.cursor ?? null, pages: telemetry?.pages ?? 0 },
    }),
  }),
};
// The module is named by its address, and this is what is looked for in it.
export default POLLING_KIND;

export interface PollingSettings {
  readonly url: string;
  readonly pageSize: number;
}

interface Telemetry {
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

function openPolling({ url, pageSize }: PollingSettings, { stored }: SourceContext): Source<Telemetry> {
  let cursor = stored.lanes.get(LANE)?.cursor ?? START;
  let isOnDisk = cursor;
  let identity: string | null = null;
  let number = 0;
  let telemetry: Telemetry = { stopped: `connecting to ${url}`, caughtUpAt: null, pages: 0 };

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
    const after = cursor === START ? '' : `&after=${encodeURIComponent(cursor)}`;
    const { transactions } = await get<{ transactions: Item[] }>(`/updates?page_size=${pageSize}${after}`, signal);
    const isAtEnd = transactions.length === 0 && isOnDisk === cursor;
    telemetry = { stopped: null, caughtUpAt: isAtEnd ? askedAt : telemetry.caughtUpAt, pages: telemetry.pages + 1 };
    return transactions.map(messageOf);
  }

  return {
    async *batches(signal) {
      while (!signal.aborted) {
        try {
          if (identity === null) {
            identity = (await get<{ network: string }>('/network', signal)).network;
            yield { identity, cursors: new Map([[LANE, START]]) };
          }
          const messages = await page(signal);
          yield messages;
          if (messages.length === pageSize) continue;
        } catch (error) {
          if (!signal.aborted) telemetry = { ...telemetry, stopped: `cannot read ${url}: ${(error as Error).message}` };
        }
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    },
    progress: () => ({ read: 0, total: null }),
    stored: (cursors) => {
      isOnDisk = cursors.get(LANE) ?? isOnDisk;
    },
    telemetry: () => telemetry,
  };
}
