import { parameter } from '../../../holdings/insight/parameters.ts';
import { HttpFault, wrongValue } from '../../server/http-fault.ts';
import { STREAM_LIMITS } from './limits.ts';

export interface StreamRequest {
  /** Each once, in the order given. */
  readonly owners: readonly string[];
  /** The id of the last event that the client had, as it gave it; null for a client that begins. */
  readonly lastEventId: string | null;
}

/** Reads a request strictly, as those of the tables are. Throws a 400 that names the parameter. */
export function readStreamRequest(query: URLSearchParams, header: string | undefined): StreamRequest {
  for (const [name, text] of query)
    if (name !== 'owner' && name !== 'last_event_id')
      throw wrongValue(name, text, 'no such parameter, only owner, last_event_id');
  const owners = query.getAll('owner');
  const { parse, expected } = parameter('party');
  if (owners.length > STREAM_LIMITS.ownersMax)
    throw new HttpFault(400, `owner: given ${owners.length} times, expected at most ${STREAM_LIMITS.ownersMax}`);
  for (const owner of owners) if (parse(owner) === null) throw wrongValue('owner', owner, expected);
  const [id = '', ...others] = query.getAll('last_event_id');
  if (others.length > 0) throw wrongValue('last_event_id', others[0]!, 'it once, and it is given twice');
  // A client without one may send an empty id, as the standard has it.
  return { owners: [...new Set(owners)], lastEventId: header || id || null };
}
