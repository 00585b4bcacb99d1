import { parseExactJson } from '../../json/exact-number.ts';
import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import type { Micros } from '../../ledger/time.ts';
import { AnswerFailure } from '../network/json-client.ts';
import {
  type ImportMessage,
  importOf,
  listedIn,
  PAGE_SIZE_MAX,
  type SynchronizerTime,
} from '../network/snapshot-import.ts';
import type { LedgerApiClient } from './participant-client.ts';
import { elementOf } from './participant-updates.ts';

/** Which entries are held: active, or on their way between synchronizers. An assignment alone is not. */
const IS_HELD: ReadonlyMap<string, boolean> = new Map([
  ['JsActiveContract', true],
  ['JsIncompleteUnassigned', true],
  ['JsIncompleteAssigned', false],
  ['JsEmpty', false],
]);

type CreatedEvent = Readonly<Record<string, unknown>>;

/** Which contracts are asked for, and how. */
export interface ImportAsked {
  readonly client: LedgerApiClient;
  /** Tries a step again that may pass. */
  readonly ask: <T>(step: () => Promise<T>) => Promise<T>;
  readonly offset: number;
  readonly eventFormat: object;
  readonly migrationId: number;
}

/** All that is active at an offset, a page at a time. Throws AnswerFailure. */
export async function* importsAt(asked: ImportAsked): AsyncGenerator<readonly ImportMessage[]> {
  const { client, ask, offset, eventFormat, migrationId } = asked;
  let pageToken: unknown;
  do {
    const body = { activeAtOffset: offset, eventFormat, maxPageSize: PAGE_SIZE_MAX, pageToken };
    const { elements, rest } = await ask(async () => {
      const page = await client.askBytes('/v2/state/active-contracts-page', body).catch(explainUnknown);
      return listedIn(client, page, 'activeContracts');
    });
    yield elements.flatMap((bytes) => {
      const created = createdIn(bytes, client.url);
      return created === null ? [] : [importOf(contractOf(created), migrationId)];
    });
    pageToken = rest.nextPageToken;
  } while (typeof pageToken === 'string' && pageToken !== '');
}

/** A participant refuses an unknown path in plain text; a proxy may, too. */
function explainUnknown(error: unknown): never {
  const isUnknown = error instanceof AnswerFailure && error.about.status === 404 && error.about.code === undefined;
  if (!isUnknown) throw error;
  const advice = 'a participant before Canton 3.5 does not have it: begin with files, or with --start beginning';
  throw new AnswerFailure(`${error.message}; ${advice}`, { cause: error });
}

/** Null for an entry that is not held. An entry that cannot be read may be a coin, so it is not skipped. */
function createdIn(bytes: Buffer, target: string): CreatedEvent | null {
  const unreadable = (what: string): AnswerFailure => {
    const message = `${target}: the active contracts have ${what}, which this version of Holdfast cannot read`;
    return new AnswerFailure(message, { conduct: 'stop' });
  };
  const element = jsonOrNull(bytes.toString());
  const entry = isObject(element) && isObject(element.contractEntry) ? element.contractEntry : {};
  const [kind, value] = Object.entries(entry)[0] ?? [];
  if (kind === undefined) throw unreadable('an element without contractEntry');
  const isHeld = IS_HELD.get(kind);
  if (isHeld === undefined) throw unreadable(`a contractEntry ${kind}`);
  if (!isHeld) return null;
  if (!isObject(value) || !isObject(value.createdEvent)) throw unreadable(`${kind} without createdEvent`);
  const { createArgument, interfaceViews: views } = value.createdEvent;
  const viewValues = Array.isArray(views) ? views.map((view) => (isObject(view) ? view.viewValue : view)) : null;
  if (!hasNumber([createArgument, viewValues])) return value.createdEvent;
  const exact = parseExactJson(bytes.toString()) as { contractEntry: Record<string, { createdEvent: CreatedEvent }> };
  const { createdEvent } = exact.contractEntry[kind]!;
  const { createArgument: exactArgument, interfaceViews } = createdEvent;
  return { ...value.createdEvent, createArgument: exactArgument, interfaceViews };
}

/** Such a number may be longer than a double is exact; Decimals and Ints are strings. */
function hasNumber(value: unknown): boolean {
  if (typeof value === 'number') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasNumber);
}

/** By the names that a Scan gives to its members; the views, which no Scan has, as the participant writes them. */
function contractOf(created: CreatedEvent): Parameters<typeof importOf>[0] {
  const { contractId, nodeId, interfaceViews: views } = created;
  const text = JSON.stringify({
    contract_id: contractId,
    template_id: created.templateId,
    package_name: created.packageName,
    create_arguments: created.createArgument,
    created_at: created.createdAt,
    signatories: created.signatories,
    observers: created.observers,
    ...(Array.isArray(views) && views.length > 0 && { interface_views: views }),
  });
  const id = typeof contractId === 'string' ? contractId : '';
  return { id, node: Number.isSafeInteger(nodeId) ? Number(nodeId) : 0, text };
}

/**
 * The time of the end, of each synchronizer that the first checkpoint behind it names: that of a checkpoint at the end, or just before
 * its first update behind it. What is read for it is read again behind the import marker.
 */
export async function timesOfEnd({
  client,
  offset: end,
  eventFormat,
  migrationId,
}: ImportAsked): Promise<readonly SynchronizerTime[]> {
  const first = new Map<string, Micros>();
  const { url } = client;
  for await (const batch of client.updates(end, eventFormat)) {
    for (const bytes of batch) {
      const { decoded, offset } = elementOf(bytes, { url, migrationId });
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
  throw new AnswerFailure(`${url}: the stream of updates was closed before its first checkpoint`, {
    conduct: 'reconnect',
  });
}
