import { tryDecode } from '../../decode/decode.ts';
import { ledgerOffsetOf } from '../../decode/values.ts';
import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import type { Micros } from '../../ledger/time.ts';
import type { Decoded } from '../../ledger/update.ts';
import { failureOfElement } from './wire-error.ts';

/** An element of a stream of updates. */
export interface Element {
  readonly bytes: Buffer;
  /** Left out where it is bad: it is decoded again, and judged where every message is. */
  readonly decoded?: Decoded;
  /** Null where it has none, or is bad. */
  readonly offset: number | null;
}

/** Throws AnswerFailure where the element is an error, which ends the stream. */
export function elementOf(bytes: Buffer, { target, migrationId }: { target: string; migrationId: number }): Element {
  const decoded = tryDecode(bytes, { migrationId });
  if (decoded instanceof BadUpdate) {
    const failure = failureOfElement(target, bytes);
    if (failure !== null) throw failure;
    // What it says of its place is no better than the rest of it.
    return { bytes, offset: null };
  }
  const known = decoded.kind === 'update' || decoded.kind === 'checkpoint' ? decoded.offset : undefined;
  return { bytes, decoded, offset: known ?? offsetIn(bytes) };
}

/** How far the ledger is told by an element; null where it says no time. */
export function recordTimeOf({ decoded }: Element): Micros | null {
  if (decoded?.kind === 'update') return decoded.recordTime;
  return decoded?.kind === 'checkpoint' ? Math.max(...decoded.times.map(({ recordTime }) => recordTime)) : null;
}

/** Of an element of a kind that is ignored. */
function offsetIn(bytes: Buffer): number | null {
  const element = jsonOrNull(bytes.toString());
  const update = isObject(element) && isObject(element.update) ? element.update : {};
  const [kind] = Object.values(update).filter(isObject);
  return isObject(kind?.value) ? ledgerOffsetOf(kind.value.offset) : null;
}

/** What is asked of the stream of updates, which then has no end. */
export function updatesRequest(beginExclusive: number, eventFormat: object): object {
  return {
    beginExclusive,
    updateFormat: {
      includeTransactions: { transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA', eventFormat },
      includeReassignments: eventFormat,
    },
  };
}
