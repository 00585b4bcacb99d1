import { tryDecode } from '../../decode/decode-message.ts';
import { isObject } from '../../json/untrusted.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { formatTime, type Micros } from '../../ledger/time.ts';
import { listedElements } from '../file/elements.ts';
import { LINE_BYTES_MAX } from '../limits.ts';
import { BrokenContainer, type Message } from '../source.ts';
import { AnswerFailure, type JsonClient } from './json-client.ts';

/** The one lane of a network: all its updates are in one order. */
export const LANE = 'updates';
/** The resume token within a snapshot import: without its marker the import restarts. */
export const IN_IMPORT = 'seed';

/** The largest page that is asked for; the operator of a Scan may have set a smaller one. */
export const PAGE_SIZE_MAX = 1000;
/** What an answer may have beside the elements of its list: far more than a node gives. */
const REST_BYTES_MAX = 65_536;

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

/** Throws AnswerFailure for an item that is too long to be parsed: no update or contract is nearly as long. */
export function requireParsable(client: JsonClient, { length }: Buffer): void {
  if (length <= LINE_BYTES_MAX) return;
  const what = `an item of ${length} bytes, which is more than the maximum of ${LINE_BYTES_MAX} bytes`;
  throw new AnswerFailure(`${client.url}: answers with ${what}`);
}

/** The elements of a list in an answer as their own bytes, not parsed, and its other members. Throws AnswerFailure where there is none. */
export function listedIn(
  client: JsonClient,
  page: Buffer,
  key: string,
): { readonly elements: readonly Buffer[]; readonly rest: Readonly<Record<string, unknown>> } {
  const offsetIn = (part: Buffer): number => part.byteOffset - page.byteOffset;
  try {
    const elements: Buffer[] = [];
    for (const { bytes } of listedElements(page, key)) if (elements.push(bytes) === PAGE_SIZE_MAX) break;
    const none = page.subarray(page.length);
    const [first, last] = [elements[0] ?? none, elements.at(-1) ?? none];
    const around = Buffer.concat([page.subarray(0, offsetIn(first)), page.subarray(offsetIn(last) + last.length)]);
    if (around.length > REST_BYTES_MAX) throw new SyntaxError(`more than ${REST_BYTES_MAX} bytes beside the elements`);
    const rest: unknown = JSON.parse(around.toString());
    const left = isObject(rest) ? rest[key] : undefined;
    // Elements that are left are too many, or of a key in another spelling.
    if (isObject(rest) && Array.isArray(left) && left.length === 0) return { elements, rest };
  } catch (error) {
    if (!isNoJson(error)) throw error;
  }
  throw new AnswerFailure(`${client.url}: answers without a list ${key} of at most ${PAGE_SIZE_MAX} elements`);
}

export function isNoJson(error: unknown): boolean {
  return error instanceof BrokenContainer || error instanceof SyntaxError;
}
