import { tryDecode } from '../../decode/decode.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import type { Message } from '../source.ts';

/** What of a message of a seed is known where its contract is read. */
export type SeedMessage = Pick<Message, 'decoded'> & { readonly bytes: Buffer };

interface ActiveContract {
  /** Empty where it has none that can be read. */
  readonly id: string;
  /** Of its create. */
  readonly node: number;
  /** The update that created it, where that is known. */
  readonly createdIn?: string | undefined;
  /** Its members as a JSON object, by the names of a created event. */
  readonly text: string;
}

/** An active contract as an import of a seed, with all of its own text: nothing of its payload is written anew. */
export function importOf({ id, node, createdIn, text }: ActiveContract, migrationId: number): SeedMessage {
  const event = JSON.stringify(`${id}:${node}`);
  const made = createdIn === undefined ? '' : `"created_in_update_id":${JSON.stringify(createdIn)},`;
  const bytes = Buffer.from(
    `{"update_id":${JSON.stringify(id)},"migration_id":${migrationId},"record_time":"0001-01-01T00:00:00.000000Z","seed":true,` +
      `${made}"root_event_ids":[${event}],` +
      `"events_by_id":{${event}:{"event_type":"created_event","event_id":${event},${text.slice(1)}}}`,
  );
  const decoded = tryDecode(bytes, { migrationId });
  // What is bad is decoded again and judged where every message is.
  return decoded instanceof BadUpdate ? { bytes } : { bytes, decoded };
}
