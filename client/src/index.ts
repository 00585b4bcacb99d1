import { type FollowedMovement, followMovements, type MovementsOptions } from './movements.ts';
import type { AnswerOf, ListPath, ParametersOf, Path } from './operations.ts';
import { type CallOptions, type ClientOptions, createRequests, type HoldfastRequest } from './requests.ts';
import { followStream, type StreamEvent, type StreamOptions } from './stream.ts';

export { amountOf, compare, subtract, sum, unitsOf } from './amount.ts';
export { HoldfastError } from './error.ts';
export type { FollowedMovement, MovementsOptions } from './movements.ts';
export type { AnswerOf, ListPath, ParametersOf, Path, Schemas } from './operations.ts';
export type { CallOptions, ClientOptions, HoldfastRequest } from './requests.ts';
export type { StreamEvent, StreamOptions } from './stream.ts';

/** A client of one service. */
export interface Client {
  /** The answer of an operation, by its path in the OpenAPI document. Rejects with a HoldfastError. */
  call<P extends Path>(path: P, parameters: ParametersOf<P>, options?: CallOptions): Promise<AnswerOf<P>>;
  /** All pages of a list, from the first, or `after`, on; all are of the snapshot of the first. */
  pages<P extends ListPath>(
    path: P,
    parameters: ParametersOf<P>,
    options?: CallOptions,
  ): AsyncGenerator<AnswerOf<P>, void, undefined>;
  /** The stream of events, which reconnects and resumes. */
  stream(options?: StreamOptions): AsyncGenerator<StreamEvent, void, undefined>;
  /** The movements of owners, without end; none is left out. */
  movements(options: MovementsOptions): AsyncGenerator<FollowedMovement, void, undefined>;
  /** The request of `call` as a value, to send it later or to show it. */
  requestFor<P extends Path>(path: P, parameters: ParametersOf<P>): HoldfastRequest<AnswerOf<P>>;
  send<Answer>(request: HoldfastRequest<Answer>, options?: CallOptions): Promise<Answer>;
}

export function createClient(options: ClientOptions): Client {
  const requests = createRequests(options);
  const { requestFor, send } = requests;
  const call: Client['call'] = async (path, parameters, options) => send(requestFor(path, parameters), options);
  return {
    requestFor,
    send,
    call,
    async *pages(path, parameters, options) {
      for (let after: unknown; after !== null; ) {
        const page = await call(path, after === undefined ? parameters : { ...parameters, after }, options);
        yield page;
        after = (page as { readonly next_page_token?: unknown }).next_page_token ?? null;
      }
    },
    stream: (options = {}) => followStream(requests, options),
    movements: (options) => followMovements(requests, options),
  };
}
