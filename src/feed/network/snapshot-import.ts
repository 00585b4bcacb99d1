import { tryDecode } from '../../decode/decode-message.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { formatTime, type Micros } from '../../ledger/time.ts';
import type { Message } from '../source.ts';

/** The one lane of a network: all its updates are in one order. */
export const LANE = 'updates';
/** The resume token within a snapshot import: without its marker the import restarts. */
export const IN_IMPORT = 'seed';

/** An active contract as a message. `decoded` is left out where it is bad. */
export type ImportMessage = Pick<Message, 'decoded'> & { readonly bytes: Buffer };

/**
 * An active contract as an import. `id`: empty where it has none that can be read. `node`: of its create. `createdIn`: the update
 * that created it, where that is known. `text`: its members as a JSON object, by the names of a created event, which are not
 * serialized again.
 */
export function importOf(
  { id, node, createdIn, text }: { id: string; node: number; createdIn?: string | undefined; text: string },
  migrationId: number,
): ImportMessage {
  const event = JSON.stringify(`${id}:${node}`);
  const made = createdIn === undefined ? '' : `"created_in_update_id":${JSON.stringify(createdIn)},`;
  const bytes = Buffer.from(
    `{"update_id":${JSON.stringify(id)},"migration_id":${migrationId},"record_time":"0001-01-01T00:00:00.000000Z","seed":true,` +
      `${made}"root_event_ids":[${event}],` +
      `"events_by_id":{${event}:{"event_type":"created_event","event_id":${event},${text.slice(1)}}}`,
  );
  const decoded = tryDecode(bytes, { migrationId });
  return decoded instanceof BadUpdate ? { bytes } : { bytes, decoded };
}

export interface SynchronizerTime {
  readonly synchronizerId: string;
  readonly recordTime: Micros;
}

/** The import marker, which ends a snapshot import (docs/rules.md, rule 13). */
export function importMarker(marker: {
  readonly migrationId: number;
  readonly recordTime: string;
  readonly times: readonly SynchronizerTime[];
  /** Of a participant. */
  readonly end?: { readonly offset: number; readonly participant_id: string };
  readonly source: string;
}): ImportMessage {
  const seed = {
    migration_id: marker.migrationId,
    record_time: marker.recordTime,
    synchronizer_times: marker.times.map((each) => ({ ...each, recordTime: formatTime(each.recordTime) })),
    ...marker.end,
    source: marker.source,
  };
  return { bytes: Buffer.from(JSON.stringify({ seed })) };
}
