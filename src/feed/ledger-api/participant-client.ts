import { z } from 'zod';
import { isPartyId } from '../../ledger/party.ts';
import { AnswerFailure, COUNT, createJsonClient, type JsonClient, LEDGER_TIME } from '../network/json-client.ts';
import type { LedgerApiSettings } from '../network/network-settings.ts';
import type { Tokens } from './oauth-tokens.ts';
import { NAMES, readError } from './participant-errors.ts';
import { openStream } from './participant-stream.ts';

/** Timers of Node do not wait longer than this. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** More than a participant hosts; each is kept in memory and in the views. */
const PARTIES_MAX = 1_000_000;
const PARTIES_PAGE = 1_000;

/** A participant: its plain requests and its streams, each with the token of the moment. */
export interface LedgerApiClient extends JsonClient {
  openStream(path: string, request: object, onOpen?: () => void): Promise<OpenedStream>;
}

interface OpenedStream {
  /** Its address, for messages. */
  readonly target: string;
  /** Ends also when its token should be a new one. */
  readonly elements: AsyncGenerator<readonly Buffer[]>;
  isRenewed(): boolean;
}

export function createLedgerApiClient(
  { url, ca }: LedgerApiSettings,
  { tokens, signal }: { tokens: Tokens; signal: AbortSignal },
): LedgerApiClient {
  async function headers(): Promise<Readonly<Record<string, string>>> {
    const token = await tokens.get(signal);
    return token === null ? {} : { authorization: `Bearer ${token}` };
  }
  return {
    ...createJsonClient(url, { ca, names: NAMES, signal, headers, readError }),
    async openStream(path, request, onOpen = () => {}) {
      const target = `${url}${path}`;
      const own = await headers();
      const leftMs = (tokens.renewAt() ?? Infinity) - Date.now();
      const renewal = leftMs === Infinity ? null : AbortSignal.timeout(Math.min(Math.max(leftMs, 0), TIMER_MS_MAX));
      const until = renewal === null ? signal : AbortSignal.any([signal, renewal]);
      const elements = openStream(target, { ca, headers: own, request, onOpen, signal: until });
      return { target, elements, isRenewed: () => renewal?.aborted === true };
    },
  };
}

const LEDGER_END = z.object({
  offset: COUNT.default(0),
  /** Up to when each synchronizer is known there; null where the participant is too old to say. */
  synchronizerTimes: z
    .array(z.object({ synchronizerId: z.string(), recordTime: LEDGER_TIME }))
    .min(1)
    .nullable()
    .catch(null),
});

export type LedgerEnd = z.output<typeof LEDGER_END>;

export function askLedgerEnd(client: JsonClient): Promise<LedgerEnd> {
  return client.ask('/v2/state/ledger-end', LEDGER_END);
}

const PARTIES = z.object({
  partyDetails: z.array(z.object({ party: z.string(), isLocal: z.boolean() }).catch({ party: '', isLocal: false })),
  nextPageToken: z.string().catch(''),
});

/** The parties that it hosts itself, in order. */
export async function askLocalParties(client: JsonClient): Promise<readonly string[]> {
  const local = new Set<string>();
  let token = '';
  do {
    const more = token === '' ? '' : `&pageToken=${encodeURIComponent(token)}`;
    const page = await client.ask(`/v2/parties?pageSize=${PARTIES_PAGE}${more}`, PARTIES);
    for (const { party, isLocal } of page.partyDetails) if (isLocal && isPartyId(party)) local.add(party);
    if (local.size > PARTIES_MAX)
      throw new AnswerFailure(`${client.url}: has more than ${PARTIES_MAX} local parties: name those to follow`, {
        conduct: 'stop',
      });
    token = page.nextPageToken;
  } while (token !== '');
  return [...local].sort();
}
