import { tryDecode } from '../../decode/decode.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { formatTime, type Micros } from '../../ledger/time.ts';
import { AnswerFailure } from '../network/failure.ts';
import type { Message } from '../source.ts';
import { type Ask, activeContracts, type CreatedEvent } from './active-contracts.ts';
import type { LedgerApiClient } from './client.ts';
import type { SynchronizerTime } from './participant.ts';
import { elementOf, updatesRequest } from './updates.ts';

/** What of a message the caller does not know. */
export type SeedMessage = Pick<Message, 'decoded'> & { readonly bytes: Buffer };

/** Which contracts are asked for, and how. */
export interface SeedAsked {
  readonly client: LedgerApiClient;
  readonly ask: Ask;
  readonly offset: number;
  readonly eventFormat: object;
  readonly migrationId: number;
}

/** All that is active at an offset, as imports. */
export async function* importsAt({
  client,
  ask,
  offset,
  eventFormat,
  migrationId,
}: SeedAsked): AsyncGenerator<readonly SeedMessage[]> {
  const pages = activeContracts(client, { activeAtOffset: offset, eventFormat }, ask);
  for await (const page of pages) yield page.map((created) => importOf(created, migrationId));
}

/** An active contract as an import of a seed. */
function importOf(created: CreatedEvent, migrationId: number): SeedMessage {
  const { contractId, nodeId } = created;
  const id = typeof contractId === 'string' ? contractId : '';
  const event = `${id}:${Number.isSafeInteger(nodeId) ? nodeId : 0}`;
  const bytes = Buffer.from(
    JSON.stringify({
      update_id: id,
      migration_id: migrationId,
      record_time: '0001-01-01T00:00:00.000000Z',
      seed: true,
      root_event_ids: [event],
      events_by_id: {
        [event]: {
          event_type: 'created_event',
          event_id: event,
          contract_id: contractId,
          template_id: created.templateId,
          package_name: created.packageName,
          create_arguments: created.createArgument,
          created_at: created.createdAt,
          signatories: created.signatories,
          observers: created.observers,
        },
      },
    }),
  );
  const decoded = tryDecode(bytes, { migrationId });
  // What is bad is decoded again and judged where every message is.
  return decoded instanceof BadUpdate ? { bytes } : { bytes, decoded };
}

/** The end of a seed (docs/rules.md, rule 13). */
export function seedMark(
  times: readonly SynchronizerTime[],
  about: { migrationId: number; offset: number; participantId: string; url: string },
): Buffer {
  const seed = {
    migration_id: about.migrationId,
    record_time: formatTime(Math.max(...times.map(({ recordTime }) => recordTime))),
    synchronizer_times: times.map(({ synchronizerId, recordTime }) => {
      return { synchronizerId, recordTime: formatTime(recordTime) };
    }),
    offset: about.offset,
    participant_id: about.participantId,
    source: `ledger api ${about.url}`,
  };
  return Buffer.from(JSON.stringify({ seed }));
}

/**
 * The time of the end, of each synchronizer that the first checkpoint behind it names: that of a checkpoint at the end, or just before
 * its first update behind it. What is read for it is read again behind the mark.
 */
export async function timeOf({
  client,
  offset: end,
  eventFormat,
  migrationId,
}: SeedAsked): Promise<readonly SynchronizerTime[]> {
  const first = new Map<string, Micros>();
  const { target, elements } = await client.openStream('/v2/updates', updatesRequest(end, eventFormat));
  for await (const batch of elements) {
    for (const bytes of batch) {
      const { decoded, offset } = elementOf(bytes, { target, migrationId });
      if (decoded?.kind === 'update' && decoded.recordTime !== null && !first.has(decoded.synchronizerId))
        first.set(decoded.synchronizerId, decoded.recordTime);
      if (decoded?.kind !== 'checkpoint' || decoded.times.length === 0) continue;
      if (offset === end) return decoded.times;
      return decoded.times.map(({ synchronizerId, recordTime }) => {
        const before = first.get(synchronizerId);
        return { synchronizerId, recordTime: before === undefined ? recordTime : before - 1 };
      });
    }
  }
  throw new AnswerFailure(`${target}: the stream was closed before its first checkpoint`, { conduct: 'reconnect' });
}
