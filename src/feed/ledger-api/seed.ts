import { tryDecode } from '../../decode/decode.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { formatTime } from '../../ledger/time.ts';
import type { Message } from '../source.ts';
import type { CreatedEvent } from './active-contracts.ts';
import type { SynchronizerTime } from './participant.ts';

/** What of a message the caller does not know. */
export type SeedMessage = Pick<Message, 'decoded'> & { readonly bytes: Buffer };

/** An active contract as an import of a seed. */
export function importOf(created: CreatedEvent, migrationId: number): SeedMessage {
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
