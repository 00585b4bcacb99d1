import { isObject } from '../../json/untrusted.ts';
import { isPartyId } from '../../ledger/party.ts';
import { parseLedgerTime } from '../../ledger/time.ts';
import { AnswerFailure } from '../network/answer-failure.ts';
import { createJsonClient, isCount, isText, type JsonClient } from '../network/json-client.ts';
import type { SynchronizerTime } from '../network/snapshot-import.ts';
import type { Tokens } from './oauth-tokens.ts';
import { readError } from './participant-errors.ts';
import { type LedgerApiSettings, NAMES } from './participant-settings.ts';
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
    ...createJsonClient(url, { server: { ca, names: NAMES }, signal, headers, readError }),
    async openStream(path, request, onOpen = () => {}) {
      const target = `${url}${path}`;
      const own = await headers();
      const renewAt = tokens.renewAt();
      const renewal =
        renewAt === null ? null : AbortSignal.timeout(Math.min(Math.max(renewAt - Date.now(), 0), TIMER_MS_MAX));
      const until = renewal === null ? signal : AbortSignal.any([signal, renewal]);
      const elements = openStream(target, { ca, headers: own, request, onOpen, signal: until });
      return { target, elements, isRenewed: () => renewal?.aborted === true };
    },
  };
}

export interface LedgerEnd {
  readonly offset: number;
  /** Up to when each synchronizer is known there; null where the participant is too old to say. */
  readonly times: readonly SynchronizerTime[] | null;
}

export function askParticipantId(client: JsonClient): Promise<string> {
  return client.askField('/v2/parties/participant-id', 'participantId', isText);
}

export async function askLedgerEnd(client: JsonClient): Promise<LedgerEnd> {
  const { value } = await client.ask('/v2/state/ledger-end');
  const { offset = 0, synchronizerTimes } = isObject(value) ? value : { offset: null };
  if (!isCount(offset)) throw new AnswerFailure(`${client.url}/v2/state/ledger-end: answers without offset`);
  const times = Array.isArray(synchronizerTimes) ? synchronizerTimes.map(synchronizerTime) : [];
  return { offset, times: times.length > 0 && times.every((time) => time !== null) ? times : null };
}

function synchronizerTime(value: unknown): SynchronizerTime | null {
  const { synchronizerId, recordTime: text } = isObject(value) ? value : {};
  const recordTime = typeof text === 'string' ? parseLedgerTime(text) : null;
  return typeof synchronizerId === 'string' && recordTime !== null ? { synchronizerId, recordTime } : null;
}

/** Up to which update it has removed what it knew; 0 where it has everything. */
export function askPrunedOffset(client: JsonClient): Promise<number> {
  return client.askField('/v2/state/latest-pruned-offsets', 'participantPrunedUpToInclusive', isCount);
}

/** The parties that it hosts itself, in order. */
export async function askLocalParties(client: JsonClient): Promise<readonly string[]> {
  const local = new Set<string>();
  let token = '';
  do {
    const more = token === '' ? '' : `&pageToken=${encodeURIComponent(token)}`;
    const { value } = await client.ask(`/v2/parties?pageSize=${PARTIES_PAGE}${more}`);
    const { partyDetails, nextPageToken } = isObject(value) ? value : {};
    if (!Array.isArray(partyDetails)) throw new AnswerFailure(`${client.url}/v2/parties: answers without partyDetails`);
    for (const each of partyDetails)
      if (isObject(each) && each.isLocal === true && typeof each.party === 'string' && isPartyId(each.party))
        local.add(each.party);
    if (local.size > PARTIES_MAX)
      throw new AnswerFailure(`${client.url}: has more than ${PARTIES_MAX} local parties: name those to follow`, {
        conduct: 'stop',
      });
    token = typeof nextPageToken === 'string' ? nextPageToken : '';
  } while (token !== '');
  return [...local].sort();
}
