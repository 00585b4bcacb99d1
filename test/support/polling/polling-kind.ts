import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, Source, SourceContext, SourceKind } from '../../../src/feed/source.ts';

/**
 * A source that nothing in src knows: updates polled over HTTP, as a Scan gives them. Its resume token is no offset but the migration
 * and the record time of the last update, `<migration id> <record time>`, and asking for it gives what comes after.
 */
const POLLING_KIND: SourceKind<PollingSettings, Telemetry> = {
  kind: 'polled network',
  resumes: true,
  locationOf: ({ offset, resumeToken = null }) => ({ item: offset, up_to: resumeToken }),
  open: async (settings, context) => openPolling(settings, context),
  status: (name, { telemetry, lanes, refused }) => ({
    stopped: refused ?? (telemetry === null ? `${name} is not read to its end yet` : telemetry.stopped),
    blocking: [],
    caughtUpAt: telemetry?.caughtUpAt ?? null,
    lagMessages: null,
    lagBytes: null,
    lagSeconds: null,
    details: { resumeToken: lanes.get(LANE)?.resumeToken ?? null, pages: telemetry?.pages ?? 0 },
  }),
};
// The module is named by its address, and this is what is looked for in it.
export default POLLING_KIND;

interface PollingSettings {
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
  let token = stored.lanes.get(LANE)?.resumeToken ?? START;
  let isOnDisk = token;
  let identity: string | null = null;
  let number = 0;
  let telemetry: Telemetry = { stopped: `connecting to ${url}`, caughtUpAt: null, pages: 0 };

  async function ask<T>(path: string, signal: AbortSignal, body?: object): Promise<T> {
    const post = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${url}/api/scan${path}`, { signal, ...post });
    if (!response.ok) throw new Error(`${url}${path} answers ${response.status}`);
    return (await response.json()) as T;
  }

  function messageOf(item: Item): Message {
    token = `${item.migration_id} ${item.record_time}`;
    number += 1;
    return { lane: LANE, offset: number, resumeToken: token, bytes: Buffer.from(JSON.stringify(item)) };
  }

  async function page(signal: AbortSignal): Promise<readonly Message[]> {
    const askedAt = Date.now();
    const [migrationId, after_record_time] = token.split(' ');
    const after = token === START ? {} : { after: { after_migration_id: Number(migrationId), after_record_time } };
    const asked = { page_size: pageSize, ...after };
    const { transactions } = await ask<{ transactions: Item[] }>('/v2/updates', signal, asked);
    const isAtEnd = transactions.length === 0 && isOnDisk === token;
    telemetry = { stopped: null, caughtUpAt: isAtEnd ? askedAt : telemetry.caughtUpAt, pages: telemetry.pages + 1 };
    return transactions.map(messageOf);
  }

  return {
    async *batches(signal) {
      while (!signal.aborted) {
        try {
          if (identity === null) {
            identity = (await ask<{ dso_party_id: string }>('/v0/dso-party-id', signal)).dso_party_id;
            yield { identity, resumeTokens: new Map([[LANE, START]]) };
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
    stored: (resumeTokens) => {
      isOnDisk = resumeTokens.get(LANE) ?? isOnDisk;
    },
    telemetry: () => telemetry,
  };
}
