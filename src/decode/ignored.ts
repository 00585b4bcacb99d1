import { type Ignored, INACTIVE_PURGE, type LedgerEvent } from '../ledger/update.ts';

/**
 * What is left out of the views without being wrong. /status counts under these names, so they are a promise, like a route.
 */
export const IGNORED_EVENTS = [
  /** Of a template that is neither a coin nor a round. */
  'other template',
  /** Of a template named like one of ours, in another package than splice-amulet. */
  'other package',
  /** An exercise that archives nothing. */
  'not consuming',
  /** An event that never reaches the active set, such as one of a contract used only within its transaction. */
  'acsDelta false',
  /** A contract on its way to another synchronizer stays held. */
  'unassignment',
  /** An unassignment within one synchronizer, which names only an id, and that is not active: its template may be another. */
  INACTIVE_PURGE,
  /** An event of another template that neither a root nor a child list names. */
  'unlisted event',
] as const;

export const IGNORED_MESSAGES = [
  'topology transaction',
  'unknown update kind',
  /** An offset checkpoint that names no synchronizer. */
  'empty checkpoint',
  'null value',
] as const;

export type IgnoredEvent = (typeof IGNORED_EVENTS)[number];

/** What was read of an update's events. */
export interface Collected {
  readonly events: LedgerEvent[];
  readonly ignored: IgnoredEvent[];
}

export function collect(read: Collected, event: LedgerEvent | IgnoredEvent): void {
  if (typeof event === 'string') read.ignored.push(event);
  else read.events.push(event);
}

export function ignoredMessage(what: (typeof IGNORED_MESSAGES)[number]): Ignored {
  return { kind: 'ignored', what };
}
