import type { LogLine } from './log-line.ts';
import type { PortableError } from './portable-error.ts';

/** A thread's start data, its requests, and the notices that it sends. */
export interface ThreadContract {
  readonly data: unknown;
  /** By name, functions from a request's argument to its answer. */
  readonly requests: Readonly<Record<string, (argument: never) => unknown>>;
  /** By name, what the thread sends without being asked; not answered. */
  readonly notices: object;
}

export type RequestName<C extends ThreadContract> = keyof C['requests'] & string;
export type Argument<C extends ThreadContract, Name extends RequestName<C>> = Parameters<C['requests'][Name]>[0];
export type Answer<C extends ThreadContract, Name extends RequestName<C>> = ReturnType<C['requests'][Name]>;

/** `id`: null where no answer is wanted. */
export type ToThread =
  | { readonly type: 'request'; readonly name: string; readonly id: number | null; readonly argument: unknown }
  | { readonly type: 'stop' };

export type FromThread =
  /** Its `open` is done. */
  | { readonly type: 'open' }
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly error: PortableError }
  | { readonly type: 'notice'; readonly name: string; readonly notice: unknown }
  | { readonly type: 'log'; readonly line: LogLine }
  /** The thread failed to start, and ends. */
  | { readonly type: 'dead'; readonly error: PortableError };
