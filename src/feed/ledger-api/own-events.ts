import { parseExactJson } from '../../json/exact-number.ts';
import { isObject } from '../../json/untrusted.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import type { LedgerUpdate } from '../../ledger/update.ts';
import type { Message } from '../source.ts';

/** Leaves out the events of coins whose owners are not followed: who reads the messages later does not know who is. */
export class OwnEvents {
  readonly #followed: ReadonlySet<string>;
  /** Coins of others that are active, because an archive says no owner. */
  readonly #others = new Set<string>();

  constructor(followed: Iterable<string>) {
    this.#followed = new Set(followed);
  }

  /** The message's bytes without them; null for the import of a seed that is one. An update without events still moves time. */
  of({ bytes, decoded }: Pick<Message, 'bytes' | 'decoded'>): Uint8Array | null {
    const left = decoded?.kind === 'update' ? this.#leftOut(decoded) : new Set<string>();
    if (bytes === null || left.size === 0) return bytes;
    return (decoded as LedgerUpdate).seed === undefined ? without(bytes, left) : null;
  }

  #leftOut({ events }: LedgerUpdate): ReadonlySet<string> {
    const left = new Set<string>();
    for (const event of events) {
      const { contractId: id } = event;
      if (event.kind === 'archive') {
        if (this.#others.delete(id)) left.add(id);
      } else if (event.kind !== 'OpenMiningRound') {
        const isOther = !(event.body instanceof BadUpdate) && !this.#followed.has(event.body.owner);
        if (isOther) this.#others.add(id);
        else this.#others.delete(id);
        if (isOther) left.add(id);
      }
    }
    return left;
  }
}

/** An element of format B without the events of these contracts; numbers stay as they were written. */
function without(bytes: Uint8Array, left: ReadonlySet<string>): Buffer {
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
