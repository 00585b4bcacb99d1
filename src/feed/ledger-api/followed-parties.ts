import { parseExactJson } from '../../json/exact-number.ts';
import { isObject } from '../../json/untrusted.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import type { HoldingCreate, LedgerUpdate } from '../../ledger/update.ts';
import type { LedgerApiSettings } from '../network/network-settings.ts';
import { FeedRefused, type Message, type StoredSource } from '../source.ts';

const OF = ' on participant ';
const NAMED_MAX = 3;

/** Offsets mean something on one participant only, and with one filter. */
export function identityOf(participantId: string, parties: LedgerApiSettings['parties']): string {
  return `coins and open rounds of ${parties === 'all' ? 'all local parties' : 'named parties'}${OF}${participantId}`;
}

/** Whether the views go on with this participant; false where they hold nothing of one. Throws FeedRefused for another one, or other parties. */
export function requireSame(
  { identity: stored, followed }: Pick<StoredSource, 'identity' | 'followed'>,
  { participantId, parties }: { participantId: string; parties: LedgerApiSettings['parties'] },
): boolean {
  // What is of another kind of source is refused by the views.
  if (stored === null || !stored.includes(OF) || followed == null) return false;
  const known = stored.slice(stored.indexOf(OF) + OF.length);
  if (known !== participantId)
    throw new FeedRefused(
      `these views were built from participant ${known}, and this is ${participantId}: its offsets are others; ` +
        'name that participant, or give another --data directory',
    );
  const given = parties === 'all' ? followed : parties;
  const [more, less] = [without(given, followed), without(followed, given)];
  const found =
    more.length > 0
      ? `names ${some(more)}, which these views do not follow: older coins would be missing`
      : `leaves out ${some(less)}, which these views follow: sums would end without a sign`;
  if (more.length + less.length > 0)
    throw new FeedRefused(`--ledger-api-parties ${found}; give it as before, or begin a new --data directory`);
  return true;
}

/** What is wrong with the followed parties, where `all` were followed. `local`: those that the participant hosts now. */
export function degradedBy(local: readonly string[], followed: readonly string[]): readonly string[] {
  const [later, gone] = [without(local, followed), without(followed, local)];
  const came = `${some(later)} came to the participant later and is not followed: a new --data directory follows it too`;
  const went = `${some(gone)} is followed and no longer local to the participant: what becomes of its coins is not read`;
  return [...(later.length > 0 ? [came] : []), ...(gone.length > 0 ? [went] : [])];
}

function without(parties: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return parties.filter((party) => !known.has(party));
}

/** Some of them by name, for a message. */
function some(parties: readonly string[]): string {
  const named = parties.slice(0, NAMED_MAX).join(', ');
  return parties.length > NAMED_MAX ? `${named} and ${parties.length - NAMED_MAX} more` : named;
}

/** Leaves out the events of coins and tokens whose owners are not followed: a reader of the messages does not know who is followed. */
export class OwnEvents {
  readonly #followed: ReadonlySet<string>;
  /** Active coins and tokens of others, because an archive says no owner. */
  readonly #others = new Set<string>();
  /** The other active holdings of the token standard, and whether they could be read. */
  readonly #holdings = new Map<string, boolean>();

  constructor(followed: Iterable<string>) {
    this.#followed = new Set(followed);
  }

  /** The message's bytes without them; null for an import of such a coin. An update without events still moves time. */
  of({ bytes, decoded }: Pick<Message, 'bytes' | 'decoded'>): Uint8Array | null {
    const left = decoded?.kind === 'update' ? this.#leftOut(decoded) : new Set<string>();
    if (bytes === null || left.size === 0) return bytes;
    return (decoded as LedgerUpdate).seed === undefined ? withoutEvents(bytes, left) : null;
  }

  #leftOut({ events }: LedgerUpdate): ReadonlySet<string> {
    const left = new Set<string>();
    for (const event of events) {
      const { contractId: id, kind } = event;
      let isOther = false;
      if (kind === 'archive' || kind === 'other archive') {
        this.#holdings.delete(id);
        isOther = this.#others.delete(id);
      } else if (kind === 'holding') isOther = this.#isOfOther(event);
      else if (kind !== 'OpenMiningRound') {
        const { body } = event;
        isOther = !(body instanceof BadUpdate) && !this.#followed.has(body.owner);
        if (isOther) this.#others.add(id);
        else this.#others.delete(id);
      }
      if (isOther) left.add(id);
    }
    return left;
  }

  /** A counterfeit is written for all owners, a token for followed owners only. The create of an active holding is ignored, unless it was unreadable. */
  #isOfOther({ contractId: id, view, signatories }: HoldingCreate): boolean {
    if (this.#others.has(id)) return true;
    const isReadable = 'owner' in view;
    const owner = isReadable && signatories.includes(view.admin) ? view.owner : null;
    const isOther = owner !== null && !this.#followed.has(owner);
    const wasReadable = this.#holdings.get(id);
    if (isOther && wasReadable === undefined) this.#others.add(id);
    if (isOther && wasReadable !== true) return true;
    this.#holdings.set(id, wasReadable === true || isReadable);
    return false;
  }
}

/** An element of format B without the events of these contracts; numbers stay as they were written. */
function withoutEvents(bytes: Uint8Array, left: ReadonlySet<string>): Buffer {
  const element = parseExactJson(Buffer.from(bytes).toString()) as { update: Record<string, { value: object }> };
  for (const kind of Object.values(element.update)) {
    const value = kind.value as { events: readonly unknown[] };
    value.events = value.events.filter((event) => !left.has(contractOf(event)));
  }
  return Buffer.from(JSON.stringify(element));
}

function contractOf(event: unknown): string {
  const [inner] = isObject(event) ? Object.values(event).filter(isObject) : [];
  const named = [inner, inner?.createdEvent, inner?.value].find((each) => isObject(each) && 'contractId' in each);
  return isObject(named) ? String(named.contractId) : '';
}
