import { parseExactJson } from '../../json/exact-number.ts';
import { isObject } from '../../json/untrusted.ts';
import { listedElements } from '../file/elements.ts';
import { type AboutFailure, AnswerFailure } from '../network/failure.ts';
import type { JsonAnswer, JsonClient } from '../network/json-client.ts';
import type { LedgerApiClient } from './client.ts';
import { failureOfElement } from './wire-error.ts';

/** Contracts asked for at once: far below what an answer may have. */
const PAGE_SIZE = 1_000;

/** Which entries are held: active, or on their way between synchronizers. An assignment alone is not. */
const IS_HELD: ReadonlyMap<string, boolean> = new Map([
  ['JsActiveContract', true],
  ['JsIncompleteUnassigned', true],
  ['JsIncompleteAssigned', false],
  ['JsEmpty', false],
]);

export type CreatedEvent = Readonly<Record<string, unknown>>;

export interface ContractsAsked {
  readonly activeAtOffset: number;
  readonly eventFormat: object;
}

export type Ask = <T>(step: () => Promise<T>) => Promise<T>;

/** All contracts active at an offset: in pages, whose end is marked, or as a stream where the participant is too old for them. */
export async function* activeContracts(
  client: LedgerApiClient,
  asked: ContractsAsked,
  ask: Ask,
): AsyncGenerator<readonly CreatedEvent[]> {
  let pageToken: unknown;
  do {
    const answer = await ask(() => askPage(client, { ...asked, maxPageSize: PAGE_SIZE, pageToken }));
    if (answer === null) return yield* streamedContracts(client, asked, ask);
    const page: Readonly<Record<string, unknown>> = isObject(answer.value) ? answer.value : {};
    if (!Array.isArray(page.activeContracts)) throw new AnswerFailure(`${client.url}: answers without activeContracts`);
    const texts = (): Buffer[] => [...listedElements(answer.bytes, 'activeContracts')].map(({ bytes }) => bytes);
    yield heldIn(page.activeContracts, { target: client.url, texts });
    pageToken = page.nextPageToken;
  } while (typeof pageToken === 'string' && pageToken !== '');
}

/** Null where there is no such path, as before 3.5, which is said of the first page and in plain text. */
async function askPage(
  client: JsonClient,
  body: ContractsAsked & { readonly pageToken: unknown; readonly maxPageSize: number },
): Promise<JsonAnswer | null> {
  try {
    return await client.ask('/v2/state/active-contracts-page', body);
  } catch (error) {
    const { status, code }: Partial<AboutFailure> = error instanceof AnswerFailure ? error.about : {};
    if (body.pageToken === undefined && status === 404 && code === null) return null;
    throw error;
  }
}

/**
 * The end of such a stream has no mark but the closing of the connection, so that one which is cut begins again behind the last
 * token that an element had; where there are tokens, one that brings nothing more is the end.
 */
async function* streamedContracts(
  client: LedgerApiClient,
  asked: ContractsAsked,
  ask: Ask,
): AsyncGenerator<readonly CreatedEvent[]> {
  let token: string | null = null;
  let begunBehind: string | null = null;
  let reading: AsyncGenerator<readonly CreatedEvent[]> | null = null;

  async function* readOnce(): AsyncGenerator<readonly CreatedEvent[]> {
    const more = token === null ? {} : { streamContinuationToken: token };
    begunBehind = token;
    const request = { ...asked, ...more };
    const { target, elements, isRenewed } = await client.openStream('/v2/state/active-contracts', request);
    for await (const messages of elements) {
      const parsed = messages.map((bytes) => elementOf(target, bytes));
      yield heldIn(parsed, { target, texts: () => messages });
      const last: unknown = parsed.findLast(isObject)?.streamContinuationToken;
      if (typeof last === 'string' && last !== '') token = last;
    }
    client.signal.throwIfAborted();
    if (isRenewed()) throw new AnswerFailure(`${target}: was left for a new token`, { conduct: 'reconnect' });
  }

  for (;;) {
    // Of one that failed nothing more comes: the next begins behind its last token.
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

function elementOf(target: string, bytes: Buffer): unknown {
  const failure = failureOfElement(target, bytes);
  if (failure !== null) throw failure;
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    throw new AnswerFailure(`${target}: sends what is no JSON`, { cause: error });
  }
}

/** The creates of elements that are held. `texts`: the elements as they came, where the numbers of a payload must be exact. */
function heldIn(
  elements: readonly unknown[],
  { target, texts }: { target: string; texts: () => readonly Buffer[] },
): readonly CreatedEvent[] {
  return elements.flatMap((element, i) => {
    const created = createdIn(element, target);
    if (created === null) return [];
    if (!hasNumber(created.createArgument)) return [created];
    const exact = createdIn(parseExactJson(texts()[i]!.toString()), target)!;
    return [{ ...created, createArgument: exact.createArgument }];
  });
}

/** Null for an entry that is not held. What cannot be read may be a coin: it is not passed over. */
function createdIn(element: unknown, target: string): CreatedEvent | null {
  const unreadable = (what: string): AnswerFailure => {
    const message = `${target}: the active contracts have ${what}, which this version of Holdfast cannot read`;
    return new AnswerFailure(message, { conduct: 'stop' });
  };
  const entry = isObject(element) && isObject(element.contractEntry) ? element.contractEntry : {};
  const [found] = Object.entries(entry);
  if (found === undefined) throw unreadable('an element without contractEntry');
  const [kind, value] = found;
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
