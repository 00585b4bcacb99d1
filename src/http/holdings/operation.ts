import type { z } from 'zod';
import type { Question } from '../../holdings/question.ts';
import type { Fields } from '../server/fields.ts';
import type { JsonOperation } from '../server/operation.ts';

/** An operation of this area; its fields and its answer say their own types. */
export function holdingsOperation<F extends Fields, Schema extends z.ZodType>(
  operation: JsonOperation<HoldingsCall, F, Schema>,
): JsonOperation<HoldingsCall, F, Schema> {
  return operation;
}

/** What a handler can use for one request. */
export interface HoldingsCall {
  /** The JSON text of a question's answer. Rejects with an HttpFault. */
  readonly ask: (question: Question) => Promise<string>;
  /** Throws a 503 where too many answers are not yet read by clients, in all or by this client. */
  readonly requireRoom: () => void;
  /** Seals a snapshot now; the JSON text of the answer. Rejects with an HttpFault. */
  readonly force: () => Promise<string>;
}

/** Faults that several operations have, by status. */
export const BODY_FAULTS = {
  400: 'A field is wrong, or the body is no JSON; the message says where.',
  413: 'The body is larger than the limit.',
  415: 'A Content-Type is given, and it is not JSON; or the body is compressed.',
} as const;
export const NO_SNAPSHOT = { 404: 'No such snapshot.' } as const;
