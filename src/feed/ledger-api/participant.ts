import { isObject } from '../../json/untrusted.ts';
import { isPartyId } from '../../ledger/party.ts';
import { type Micros, parseLedgerTime } from '../../ledger/time.ts';
import { AnswerFailure } from '../network/failure.ts';
import { isCount, isText, type JsonClient } from '../network/json-client.ts';

/** More than a participant hosts; each is kept in memory and in the views. */
const PARTIES_MAX = 1_000_000;
const PARTIES_PAGE = 1_000;

export interface SynchronizerTime {
  readonly synchronizerId: string;
  readonly recordTime: Micros;
}

export interface LedgerEnd {
  readonly offset: number;
  /** Up to when each synchronizer is known there; null where the participant is too old to say. */
  readonly times: readonly SynchronizerTime[] | null;
}

/** Small questions about a participant. Each throws AnswerFailure for an answer without what was asked for. */

export async function askParticipantId(client: JsonClient): Promise<string> {
  return client.askField('/v2/parties/participant-id', 'participantId', isText);
}

export async function askLedgerEnd(client: JsonClient): Promise<LedgerEnd> {
  const { value } = await client.ask('/v2/state/ledger-end');
  const { offset = 0, synchronizerTimes } = isObject(value) ? value : { offset: null };
  if (!isCount(offset)) throw without(client, '/v2/state/ledger-end', 'offset');
  const times = Array.isArray(synchronizerTimes) ? synchronizerTimes.map(synchronizerTime) : [];
  return { offset, times: times.length > 0 && times.every((time) => time !== null) ? times : null };
}

/** Up to which update it has removed what it knew; 0 where it has everything. */
export async function askPrunedOffset(client: JsonClient): Promise<number> {
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
    if (!Array.isArray(partyDetails)) throw without(client, '/v2/parties', 'partyDetails');
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

export function synchronizerTime(value: unknown): SynchronizerTime | null {
  const { synchronizerId, recordTime: text } = isObject(value) ? value : {};
  const recordTime = typeof text === 'string' ? parseLedgerTime(text) : null;
  return typeof synchronizerId === 'string' && recordTime !== null ? { synchronizerId, recordTime } : null;
}

function without({ url }: JsonClient, path: string, field: string): AnswerFailure {
  return new AnswerFailure(`${url}${path}: answers without ${field}`);
}
