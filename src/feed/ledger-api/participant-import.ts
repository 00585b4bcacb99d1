import { parseExactJson } from '../../json/exact-number.ts';
import { isObject } from '../../json/untrusted.ts';
import type { Micros } from '../../ledger/time.ts';
import { listedElements } from '../file/elements.ts';
import { AnswerFailure, parseAnswer } from '../network/json-client.ts';
import { type ImportMessage, importOf, type SynchronizerTime } from '../network/snapshot-import.ts';
import type { LedgerApiClient } from './participant-client.ts';
import { failureOfElement } from './participant-errors.ts';
import { elementOf, updatesRequest } from './participant-updates.ts';

/** Contracts asked for at once: far below what an answer may have. */
const PAGE_SIZE = 1_000;

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

/** All that is active at an offset: in pages, whose end is marked, or as a stream where the participant is too old for them. */
export async function* importsAt(asked: ImportAsked): AsyncGenerator<readonly ImportMessage[]> {
  const { client, ask, migrationId } = asked;
  let pageToken: unknown;
  do {
    const page = await ask(() => askPage(asked, pageToken));
    if (page === null) return yield* streamedImports(asked);
    const texts = (): Buffer[] => [...listedElements(page.bytes, 'activeContracts')].map(({ bytes }) => bytes);
    yield importsIn(page.contracts, { target: client.url, texts, migrationId });
    pageToken = page.next;
  } while (typeof pageToken === 'string' && pageToken !== '');
}

/** Null where there is no such path, as before 3.5: the first page is refused, in plain text. */
async function askPage(
  { client, offset, eventFormat }: ImportAsked,
  pageToken: unknown,
): Promise<{ bytes: Buffer; contracts: readonly unknown[]; next: unknown } | null> {
  const body = { activeAtOffset: offset, eventFormat, maxPageSize: PAGE_SIZE, pageToken };
  try {
    const bytes = await client.askBytes('/v2/state/active-contracts-page', body);
    const page = parseAnswer(client.url, bytes);
    if (!isObject(page) || !Array.isArray(page.activeContracts))
      throw new AnswerFailure(`${client.url}: answers without activeContracts`);
    return { bytes, contracts: page.activeContracts, next: page.nextPageToken };
  } catch (error) {
    const isUnknown = error instanceof AnswerFailure && error.about.status === 404 && error.about.code === undefined;
    if (pageToken === undefined && isUnknown) return null;
    throw error;
  }
}

/**
 * The end of such a stream is only the closing of the connection, so a stream that is cut begins again behind the last token that an
 * element had. Where there are tokens, a stream that brings nothing more is the end.
 */
async function* streamedImports(asked: ImportAsked): AsyncGenerator<readonly ImportMessage[]> {
  const { client, ask, offset, eventFormat, migrationId } = asked;
  let token: string | null = null;
  let begunBehind: string | null = null;
  let reading: AsyncGenerator<readonly ImportMessage[]> | null = null;

  async function* readOnce(): AsyncGenerator<readonly ImportMessage[]> {
    begunBehind = token;
    const request = { activeAtOffset: offset, eventFormat, ...(token !== null && { streamContinuationToken: token }) };
    const { target, elements, isRenewed } = await client.openStream('/v2/state/active-contracts', request);
    for await (const messages of elements) {
      const parsed = messages.map((bytes) => parsedElement(target, bytes));
      yield importsIn(parsed, { target, texts: () => messages, migrationId });
      const last: unknown = parsed.findLast(isObject)?.streamContinuationToken;
      if (typeof last === 'string' && last !== '') token = last;
    }
    client.signal.throwIfAborted();
    if (isRenewed()) throw new AnswerFailure(`${target}: was left for a new token`, { conduct: 'reconnect' });
  }

  for (;;) {
    const { done, value } = await ask(() => {
      reading ??= readOnce();
      return reading.next().catch((error: unknown) => {
        reading = null;
        throw error;
      });
    });
    if (done !== true) yield value;
    else if (token === begunBehind) return;
    else reading = null;
  }
}

function parsedElement(target: string, bytes: Buffer): unknown {
  const element = parseAnswer(target, bytes);
  const failure = failureOfElement(target, element);
  if (failure !== null) throw failure;
  return element;
}

/** The contracts of elements that are held. `texts`: the elements as they came, where the numbers of a payload must be exact. */
function importsIn(
  elements: readonly unknown[],
  { target, texts, migrationId }: { target: string; texts: () => readonly Buffer[]; migrationId: number },
): readonly ImportMessage[] {
  return elements.flatMap((element, i) => {
    const created = createdIn(element, target);
    if (created === null) return [];
    const { createArgument } = hasNumber(created.createArgument)
      ? createdIn(parseExactJson(texts()[i]!.toString()), target)!
      : created;
    return [importOf(contractOf({ ...created, createArgument }), migrationId)];
  });
}

/** Null for an entry that is not held. An entry that cannot be read may be a coin, so it is not skipped. */
function createdIn(element: unknown, target: string): CreatedEvent | null {
  const unreadable = (what: string): AnswerFailure => {
    const message = `${target}: the active contracts have ${what}, which this version of Holdfast cannot read`;
    return new AnswerFailure(message, { conduct: 'stop' });
  };
  const entry = isObject(element) && isObject(element.contractEntry) ? element.contractEntry : {};
  const [kind, value] = Object.entries(entry)[0] ?? [];
  if (kind === undefined) throw unreadable('an element without contractEntry');
  const isHeld = IS_HELD.get(kind);
  if (isHeld === undefined) throw unreadable(`a contractEntry ${kind}`);
  if (!isHeld) return null;
  if (!isObject(value) || !isObject(value.createdEvent)) throw unreadable(`${kind} without createdEvent`);
  return value.createdEvent;
}

/** Such a number may be longer than a double is exact; Decimals and Ints are strings. */
function hasNumber(value: unknown): boolean {
  if (typeof value === 'number') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasNumber);
}

/** By the names that a Scan gives to its members. */
function contractOf(created: CreatedEvent): Parameters<typeof importOf>[0] {
  const { contractId, nodeId } = created;
  const text = JSON.stringify({
    contract_id: contractId,
    template_id: created.templateId,
    package_name: created.packageName,
    create_arguments: created.createArgument,
    created_at: created.createdAt,
    signatories: created.signatories,
    observers: created.observers,
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
