import type { Users } from '../../users/open-users.ts';
import type { Caller } from '../../users/rules/caller.ts';
import type { UsersReader } from '../../users/store/users-reader.ts';
import type { UsersWriter } from '../../users/store/users-writer.ts';
import type { UsersConfig } from '../../users/users-config.ts';
import type { OperationFacts } from '../server/operation.ts';
import type { AnswerName } from './answers.ts';
import { decodeBody } from './decode-body.ts';
import type { Query, QueryParameter } from './query.ts';
import { REQUEST_SCHEMAS, type RequestBodies, type RequestName } from './request-schemas.ts';

/**
 * What an operation is and how it is described; the same list makes the routes and the document. It shares its facts with the operations
 * of the other areas, and no more: here a token, a path and a body are judged in an order that the page gives, some faults are plain
 * text, and a handler runs within a transaction with whoever asks.
 */
export interface UsersFacts extends OperationFacts {
  readonly query?: readonly QueryParameter[];
  readonly answer: AnswerName;
  /** Which of the reference's services it belongs to: only the one for users puts the participant in quotes. */
  readonly service: 'user' | 'identity provider';
  /** Whether errors of the service name a submission. */
  readonly submission?: true;
  /** Asked by every client all the time, about itself only: the log has it at debug. */
  readonly ownRecordOnly?: true;
}

export interface UsersOperation extends UsersFacts {
  readonly body: RequestName | null;
  /** Decodes the body; throws a 400 where it cannot be. */
  readonly prepare: (given: { id: string; query: Query; bodyText: string }) => Prepared;
}

/** A decoded request, in the steps that the page gives an order (ledger-users-api.md 0.1). */
export interface Prepared {
  /** The user or provider that it is about, for the log; empty where it is about many. */
  readonly subject: string;
  /** What is judged before a missing token is told: the id of the path, and that the body names the same. */
  readonly checkIds: () => void;
  /** Finds the caller and answers, in one transaction. */
  readonly run: (users: Users, findCaller: (users: UsersReader) => Caller) => object;
}

/** What an operation's own code gets: who asks, what, and the users as they are within the transaction. */
export interface Call<Store extends UsersReader, Body = null> {
  readonly users: Store;
  readonly caller: Caller;
  readonly config: UsersConfig;
  /** Of the path; empty where it has none. */
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
}

interface Act<Store extends UsersReader> {
  readonly checkId?: (id: string) => void;
  readonly run: (call: Call<Store>) => object;
}

/** An operation that changes nothing and has no body. */
export function reading(facts: UsersFacts, act: Act<UsersReader>): UsersOperation {
  return withoutBody(facts, act, (users, body) => body(users.reader));
}

/** An operation that changes something and has no body. */
export function removing(facts: UsersFacts, act: Act<UsersWriter>): UsersOperation {
  return withoutBody(facts, act, (users, body) => users.write(body));
}

function withoutBody<Store extends UsersReader>(
  facts: UsersFacts,
  act: Act<Store>,
  transact: (users: Users, body: (store: Store) => object) => object,
): UsersOperation {
  return {
    ...facts,
    body: null,
    prepare: ({ id, query }) => ({
      subject: id,
      checkIds: () => act.checkId?.(id),
      run: (users, findCaller) =>
        transact(users, (store) =>
          act.run({ users: store, caller: findCaller(store), config: users.config, id, query, body: null }),
        ),
    }),
  };
}

/** An operation that changes something, as its body says. */
export function writing<Name extends RequestName>(
  body: Name,
  facts: UsersFacts,
  act: {
    /** Only where the path has no id. */
    readonly subject?: (body: RequestBodies[Name]) => string | undefined;
    readonly checkIds?: (ids: { readonly id: string; readonly body: RequestBodies[Name] }) => void;
    readonly run: (call: Call<UsersWriter, RequestBodies[Name]>) => object;
  },
): UsersOperation {
  return {
    ...facts,
    body,
    prepare: ({ id, query, bodyText }) => {
      const decoded = decodeBody(REQUEST_SCHEMAS[body], bodyText);
      return {
        subject: act.subject?.(decoded) ?? id,
        checkIds: () => act.checkIds?.({ id, body: decoded }),
        run: (users, findCaller) =>
          users.write((writer) =>
            act.run({ users: writer, caller: findCaller(writer), config: users.config, id, query, body: decoded }),
          ),
      };
    },
  };
}
