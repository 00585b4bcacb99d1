import type { Question } from '../../holdings/question.ts';
import type { JsonOperation } from '../server/operation.ts';

/** An operation of this area; `Query` is what its schema makes of a request. */
export type HoldingsOperation<Query = unknown> = JsonOperation<HoldingsCall, Query>;

/** What an operation's handler has at hand, for one request. */
export interface HoldingsCall {
  /** The JSON text of a question's answer. Rejects with an HttpFault. */
  readonly ask: (question: Question) => Promise<string>;
  /** Throws a 503 where more answers wait to be taken than may, in all or by whom this request is from. */
  readonly requireRoom: () => void;
  /** The JSON text of a snapshot that is sealed now. Rejects with an HttpFault. */
  readonly force: () => Promise<string>;
}

/** Faults that several operations have, by status. */
export const BODY_FAULTS = {
  400: 'A field is wrong, or the body is no JSON; the message says where.',
  413: 'The body is larger than the limit.',
  415: 'A Content-Type is given, and it is not JSON; or the body is compressed.',
} as const;
export const NO_SNAPSHOT = { 404: 'No such snapshot.' } as const;
