import type { Schemas } from './operations.ts';
import type { Requests } from './requests.ts';
import { createRetry } from './retry.ts';
import { followStream, type StreamOptions } from './stream.ts';

export type MovementsOptions = Omit<StreamOptions, 'events'> & { readonly owners: readonly string[] };

export type FollowedMovement = Schemas['MovementEvent'] & {
  /** Of this movement alone: one that comes again has the same. */
  readonly id: string;
  /** Stored with the movement and given as the option, it continues behind it. Not its id while movements are read after a reset. */
  readonly lastEventId: string;
};

/**
 * Each movement of the owners after `lastEventId`, as it is applied. Where the service cannot continue there, those that were
 * missed are read from each owner's table, from the time of the last event on; some come again then.
 */
export async function* followMovements(
  requests: Requests,
  options: MovementsOptions,
): AsyncGenerator<FollowedMovement, void, undefined> {
  let { lastEventId } = options;
  if (lastEventId !== undefined) positionOf(lastEventId);
  for await (const { event, id, data } of followStream(requests, { ...options, events: 'movements' })) {
    if (id === null) continue;
    if (event === 'reset' && lastEventId !== undefined) yield* missedMovements(requests, options, lastEventId, data);
    lastEventId = id;
    if (event === 'movement') yield { ...data, id, lastEventId };
  }
}

/** Throws where the service does not have all since the last event. */
async function* missedMovements(
  { send, requestFor }: Requests,
  { owners, signal, onConnection, instrument }: MovementsOptions,
  lastEventId: string,
  newest: Schemas['SnapshotEvent'],
): AsyncGenerator<FollowedMovement, void, undefined> {
  const retry = createRetry({ signal, onConnection });
  const last = positionOf(lastEventId);
  for (const party of owners)
    for (let migration_id = last.migrationId; migration_id <= Number(newest.migration_id); migration_id++) {
      const asked = { party, migration_id, from: last.time, order: 'asc' as const, limit: 1000, ...instrument };
      for (let after: string | undefined | null; after !== null; ) {
        const request = requestFor('/holdfast/v1/owners/{party}/movements', { ...asked, after });
        const page = await retry.untilAnswered(() => send(request, { signal }));
        for (const row of page?.movements ?? []) {
          if (signal?.aborted) return;
          const movement = { migration_id, party_id: party, ...instrument, ...row };
          yield { ...movement, id: movementId(movement), lastEventId };
        }
        after = page?.next_page_token ?? null;
      }
    }
}

/** The migration and the record time with which the ids of events begin. */
function positionOf(eventId: string): { readonly migrationId: number; readonly time: string } {
  const [, migration, time] = /^(\d{1,15}) ([^ ]+)/.exec(eventId) ?? [];
  if (time === undefined)
    throw new RangeError(`lastEventId: given ${JSON.stringify(eventId)}, expected the id of an event of Holdfast`);
  return { migrationId: Number(migration), time: decodeURIComponent(time) };
}

/** As the service writes it. */
function movementId(of: Schemas['MovementEvent']): string {
  const ofToken =
    of.instrument_id === undefined ? [] : [of.provider, of.account_id, of.instrument_admin, of.instrument_id];
  const parts = [of.migration_id, of.record_time, of.update_id, of.party_id, ...ofToken];
  return parts.map((part) => percentEncoded(String(part ?? ''))).join(' ');
}

/** Only unreserved characters stay (RFC 3986). */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}
