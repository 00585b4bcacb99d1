import { z } from 'zod';
import { isPartyId } from '../../ledger/ledger-ids.ts';
import { AnswerFailure, COUNT, createJsonClient, type JsonClient, LEDGER_TIME } from '../network/json-client.ts';
import type { LedgerApiSettings } from '../network/network-settings.ts';
import type { Tokens } from './oauth-tokens.ts';
import { CA_SETTING, readError } from './participant-errors.ts';
import { openStream } from './participant-stream.ts';

/** More than a participant hosts; each is kept in memory and in the views. */
const PARTIES_MAX = 1_000_000;
const PARTIES_PAGE = 1_000;

/** A participant: its plain requests and its stream of updates, each with the token of the moment. */
export interface LedgerApiClient extends JsonClient {
  /** The elements behind an offset, without an end. */
  updates(beginExclusive: number, eventFormat: object, onOpen?: () => void): AsyncGenerator<readonly Buffer[]>;
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
    ...createJsonClient(url, { ca, caSetting: CA_SETTING, signal, headers, readError }),
    async *updates(beginExclusive, eventFormat, onOpen = () => {}) {
      const updateFormat = {
        includeTransactions: { transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA', eventFormat },
        includeReassignments: eventFormat,
      };
      const request = { beginExclusive, updateFormat };
      yield* openStream(`${url}/v2/updates`, { ca, headers: await headers(), request, onOpen, signal });
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
