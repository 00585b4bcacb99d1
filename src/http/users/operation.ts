import type { z } from 'zod';
import type { Users } from '../../users/open-users.ts';
import type { Call } from '../../users/rules/caller.ts';
import type { UsersReader } from '../../users/store/users-reader.ts';
import type { UsersWriter } from '../../users/store/users-writer.ts';
import type { OperationFacts } from '../server/operation.ts';
import type { QueryParameter } from './request.ts';

/**
 * An operation and its description; routes and document are made from one list. It has only its names in common with the
 * operations of the other areas: here token, path and body are checked in a fixed order (docs/rules.md, order of a request), some
 * faults are plain text, and a handler runs within a transaction, with the caller known. As in the other areas, what takes the
 * body is written as a method: each gets the result of its own schema.
 */
export interface UsersOperation<Body = unknown> extends OperationFacts {
  readonly query?: readonly QueryParameter[];
  readonly body: z.ZodType<Body> | null;
  /** Like a body, named by the `id` in its meta. */
  readonly answer: z.ZodType;
  /** The reference's service that it belongs to: only the one for users puts the participant in quotes. */
  readonly service: 'user' | 'identity provider';
  /** Whether errors have a submission id. */
  readonly submission?: true;
  /** Called by every client very often, only about itself: logged at debug. */
  readonly ownRecordOnly?: true;
  /** The user or provider that it concerns, for the log; only where the path has no id. */
  subject?(body: Body): string | undefined;
  /** Checks made before a missing token is reported: the id of the path, and that the body has the same. */
  checkIds?(ids: { readonly id: string; readonly body: Body }): void;
  /** Answers in one transaction, in which `callOf` finds the caller. */
  run(users: Users, callOf: <Store extends UsersReader>(store: Store) => Call<Store, Body>): object;
}

/** An operation whose own code answers a call. */
type Answering<Store extends UsersReader, Body> = Omit<UsersOperation<Body>, 'run'> & {
  readonly run: (call: Call<Store, Body>) => object;
};

/** An operation that changes nothing and has no body. */
export function reading(operation: Omit<Answering<UsersReader, unknown>, 'method' | 'body'>): UsersOperation {
  return { ...operation, method: 'GET', body: null, run: (users, callOf) => operation.run(callOf(users.reader)) };
}

/** An operation that changes something. */
export function writing<Body>(operation: Answering<UsersWriter, Body>): UsersOperation<Body> {
  return { ...operation, run: (users, callOf) => users.write((store) => operation.run(callOf(store))) };
}
