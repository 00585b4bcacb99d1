import type { z } from 'zod';
import type { Users } from '../../users/open-users.ts';
import type { Caller } from '../../users/rules/caller.ts';
import type { UsersReader } from '../../users/store/users-reader.ts';
import type { UsersWriter } from '../../users/store/users-writer.ts';
import type { UsersConfig } from '../../users/users-config.ts';
import type { OperationFacts } from '../server/operation.ts';
import { decodeBody } from './body.ts';
import type { Query, QueryParameter } from './request.ts';

/**
 * An operation and its description; routes and document are made from one list. It has only its names in common with the
 * operations of the other areas: here token, path and body are checked in a fixed order (docs/rules.md, order of a request), some
 * faults are plain text, and a handler runs within a transaction, with the caller known.
 */
export interface UsersFacts extends OperationFacts {
  readonly query?: readonly QueryParameter[];
  /** Like a body, named by the `id` in its meta. */
  readonly answer: z.ZodType;
  /** The reference's service that it belongs to: only the one for users puts the participant in quotes. */
  readonly service: 'user' | 'identity provider';
  /** Whether errors have a submission id. */
  readonly submission?: true;
  /** Called by every client very often, only about itself: logged at debug. */
  readonly ownRecordOnly?: true;
}

export interface UsersOperation extends UsersFacts {
  readonly body: z.ZodType | null;
  /** Decodes the body; throws a 400 where it cannot be. */
  readonly prepare: (given: { id: string; query: Query; bodyText: string }) => Prepared;
}

/** A decoded request, in steps whose order is fixed (docs/rules.md, order of a request). */
export interface Prepared {
  /** The user or provider that it concerns, for the log; empty where it concerns many. */
  readonly subject: string;
  /** Checks made before a missing token is reported: the id of the path, and that the body has the same. */
  readonly checkIds: () => void;
  /** Finds the caller and answers, in one transaction. */
  readonly run: (users: Users, findCaller: (users: UsersReader) => Caller) => object;
}

/** What an operation's own code gets: the caller, the request, and the users within the transaction. */
export interface Call<Store extends UsersReader, Body = null> {
  readonly users: Store;
  readonly caller: Caller;
  readonly config: UsersConfig;
  /** Of the path; empty where it has none. */
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
}

/** The work of an operation, once its request is decoded. */
interface Act<Store extends UsersReader, Body = null> {
  /** Only where the path has no id. */
  readonly subject?: (body: Body) => string | undefined;
  readonly checkIds?: (ids: { readonly id: string; readonly body: Body }) => void;
  readonly run: (call: Call<Store, Body>) => object;
}

/** An operation that changes nothing and has no body. */
export function reading(facts: Omit<UsersFacts, 'method'> & Act<UsersReader>): UsersOperation {
  return operation({ ...facts, method: 'GET', body: null }, (users, run) => run(users.reader));
}

/** An operation that changes something; without a body, that is null. */
export function writing<Body = null>(
  facts: UsersFacts & { readonly body: z.ZodType<Body> | null } & Act<UsersWriter, Body>,
): UsersOperation {
  return operation(facts, (users, run) => users.write(run));
}

function operation<Store extends UsersReader, Body>(
  facts: UsersFacts & { readonly body: z.ZodType<Body> | null } & Act<Store, Body>,
  transact: (users: Users, run: (store: Store) => object) => object,
): UsersOperation {
  const { body: schema, subject, checkIds, run } = facts;
  return {
    ...facts,
    prepare: ({ id, query, bodyText }) => {
      const body = schema === null ? (null as Body) : decodeBody(schema, bodyText);
      return {
        subject: subject?.(body) ?? id,
        checkIds: () => checkIds?.({ id, body }),
        run: (users, findCaller) =>
          transact(users, (store) =>
            run({ users: store, caller: findCaller(store), config: users.config, id, query, body }),
          ),
      };
    },
  };
}
