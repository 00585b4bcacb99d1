import type { components, paths } from './holdings-api.ts';

/** The named objects of answers and events, such as `Schemas['Movement']`. */
export type Schemas = components['schemas'];

type OperationOf<P extends keyof paths> = Extract<paths[P]['get' | 'post'], object>;

type Json<Content> = Content extends { content: { 'application/json': infer Body } } ? Body : never;
type Answered<Operation> = Operation extends { responses: { 200: infer Success } } ? Json<Success> : never;

/** The operations with answers; the stream has events. */
export type Path = { [P in keyof paths]: [Answered<OperationOf<P>>] extends [never] ? never : P }[keyof paths];

export type AnswerOf<P extends Path> = Answered<OperationOf<P>>;

type OrNothing<Fields> = [NonNullable<Fields>] extends [never] ? unknown : NonNullable<Fields>;
type BodyOf<Operation> = Operation extends { requestBody: infer Body } ? Json<Body> : never;
type Given<Operation> = Operation extends { parameters: { path?: infer InPath; query?: infer InQuery } }
  ? OrNothing<InPath> & OrNothing<InQuery> & OrNothing<BodyOf<Operation>>
  : never;
type Sent<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value;

/** Of the path, the query and the body, by name. What is undefined is not sent. */
export type ParametersOf<P extends Path> = {
  readonly [Name in keyof Given<OperationOf<P>> as Name extends 'format' ? never : Name]:
    | Sent<Given<OperationOf<P>>[Name]>
    | undefined;
};

/** The operations whose answers are pages. */
export type ListPath = { [P in Path]: 'next_page_token' extends keyof AnswerOf<P> ? P : never }[Path];

type PostedPath = { [P in keyof paths]: paths[P] extends { readonly post: object } ? P : never }[keyof paths];

/** All operations that take their parameters in a body. */
export const POSTED: Readonly<Partial<Record<Path, true>>> = {
  '/v0/holdings/summary': true,
  '/v1/holdings/summary': true,
  '/v0/holdings/state': true,
  '/v1/holdings/state': true,
  '/v2/holdings/state': true,
  '/v0/state/acs/force': true,
  '/holdfast/v1/balances': true,
} satisfies Record<Exclude<PostedPath, '/holdfast/v1/stream'>, true>;
