import { expect } from 'vitest';
import { USERS_OPERATIONS, VERSION_OPERATION } from '../../../src/http/users-operations.ts';
import type { Asked } from './world.ts';

/**
 * A case is a name and the requests that follow each other in it. As text, one line each:
 *
 *     A4 an id twice
 *       admin POST /v2/users {"user":{"id":"a4"}} => 200
 *       admin POST /v2/users {"user":{"id":"a4"}} => 409 USER_ALREADY_EXISTS ~already exists
 *         = {"resources":[["USER","a4"]]}
 *
 * The caller (a name that the world knows), the request, its body as it is sent; after the arrow the status, then for an
 * error its code (`NA`, with ` LAE` where the context says that the token is invalid) or `text` for plain text, and
 * after `~` a part of the cause. A line with `=` is a part of the answer's JSON. `<a*5>` is `aaaaa`, `<acts 2>` are two
 * different CanActAs rights, and a step with `<each a ¦ b each>` is one step for each of them.
 */
export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

interface Step {
  readonly who: string;
  readonly request: string;
  readonly body: string | null;
  readonly expected: string;
  readonly partOfAnswer: object | null;
}

const STEP = /^ {2}(\S+) ([A-Z]+ \S+)(?: (.*?))? => (.*)$/s;

export function parseCases(text: string): Case[] {
  return text
    .trimEnd()
    .split(/\n\n+/)
    .map((block) => {
      const [name, ...lines] = block.replaceAll(/\n {4}= /g, '\u0001').split('\n');
      return { name: name!, steps: lines.flatMap(eachOf).map(parseStep) };
    });
}

function eachOf(line: string): string[] {
  const [, before, each, after] = /^(.*?)<each (.*) each>(.*)$/s.exec(line) ?? [];
  return each === undefined ? [line] : each.split(' ¦ ').map((one) => `${before}${one}${after}`);
}

function parseStep(line: string): Step {
  const [step, part] = line.split('\u0001');
  const [, who, request, body, expected] = STEP.exec(expand(step!)) ?? [];
  if (who === undefined) throw new Error(`no step of a case: ${line}`);
  const partOfAnswer = part === undefined ? null : (JSON.parse(expand(part)) as object);
  return { who, request: request!, body: body ?? null, expected: expected!, partOfAnswer };
}

function expand(text: string): string {
  return text
    .replaceAll(/<(\\u[0-9a-f]{4}|.|..)\*(\d+)>/g, (_, part: string, count: string) => part.repeat(Number(count)))
    .replaceAll(/<acts (\d+)>/g, (_, count: string) => Array.from({ length: Number(count) }, actsAs).join(','));
}

function actsAs(_: unknown, at: number): string {
  return `{"kind":{"CanActAs":{"value":{"party":"p${at}"}}}}`;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export async function ask(
  world: Asked,
  who: string,
  request: string,
  body: string | null = null,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const [method, path] = request.split(/ (.*)/s) as [string, string];
  const token = await world.token(who);
  const response = await fetch(world.url + path, {
    method,
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === null ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export async function runCase(world: Asked, { steps }: Case): Promise<void> {
  expect(steps.length).toBeGreaterThan(0);
  for (const { who, request, body, expected, partOfAnswer } of steps) {
    const answered = await ask(world, who, request, body);
    checkAnswer(answered, expected, `${who} ${request} ${String(body).slice(0, 200)}`);
    if (answered.status === 200) checkDocumented(answered.text, request);
    if (partOfAnswer !== null) expect(JSON.parse(answered.text), request).toMatchObject(partOfAnswer);
  }
}

const DOCUMENTED = [VERSION_OPERATION, ...USERS_OPERATIONS].map(({ method, path, answer }) => {
  return { answer, pattern: new RegExp(`^${method} ${path.replace(/\{.*\}/, '[^/]+')}/?(\\?.*)?$`) };
});

/** An answer is what the document says of its operation. */
function checkDocumented(text: string, request: string): void {
  const { answer } = DOCUMENTED.find(({ pattern }) => pattern.test(request.replace('HEAD', 'GET')))!;
  if (text !== '') expect(answer.safeParse(JSON.parse(text)).error?.issues ?? [], request).toEqual([]);
}

export function checkAnswer(answered: Answered, expected: string, about: string): void {
  const [, status, code = '', part = ''] = /^(\d+) ?([^~]*?) ?(?:~(.*))?$/s.exec(expected)!;
  const shown = `${about}\n${answered.text.slice(0, 500)}`;
  expect(answered.status, shown).toBe(Number(status));
  const type = answered.headers.get('content-type') ?? '';
  if (code === 'text') {
    expect(type, shown).toMatch(/^text\/plain/);
    expect(answered.text, shown).toContain(part);
    return;
  }
  if (answered.text === '' && code === '') return;
  expect(type, shown).toBe('application/json');
  const body = JSON.parse(answered.text) as Record<string, unknown>;
  if (answered.status === 200) return;
  checkErrorForm(body, answered.status, shown);
  expect(
    body.code + (JSON.stringify(body.context) === '{"ledger_api_error":"invalid token"}' ? ' LAE' : ''),
    shown,
  ).toBe(body.code === 'NA' ? code : code.replace(/ LAE$/, ''));
  if (code === 'INVALID_TOKEN LAE') expect(body.context, shown).toMatchObject({ ledger_api_error: 'invalid token' });
  expect(String(body.cause), shown).toContain(part);
}

const KEYS = [
  'code',
  'cause',
  'correlationId',
  'traceId',
  'context',
  'resources',
  'errorCategory',
  'grpcCodeValue',
  'retryInfo',
  'definiteAnswer',
];
const GRPC_OF_STATUS: Readonly<Record<number, readonly number[]>> = {
  400: [3, 9],
  401: [16],
  403: [7],
  404: [5],
  409: [6, 10],
};

/** What every error body has (docs/rules.md, errors). */
function checkErrorForm(body: Record<string, unknown>, status: number, shown: string): void {
  expect(Object.keys(body), shown).toEqual(KEYS);
  expect(GRPC_OF_STATUS[status], shown).toContain(body.grpcCodeValue);
  expect(body.traceId, shown).toMatch(/^[0-9a-f]{32}$/);
  const context = body.context as Record<string, string>;
  if (body.code === 'NA') {
    expect(body, shown).toMatchObject({
      cause: 'A security-sensitive error has been received',
      correlationId: body.traceId,
      resources: [],
      errorCategory: -1,
      retryInfo: null,
      definiteAnswer: null,
    });
    expect([{}, { ledger_api_error: 'invalid token' }], shown).toContainEqual(context);
  } else if (body.definiteAnswer === false) {
    expect(body, shown).toMatchObject({ context: {}, correlationId: body.traceId });
  } else {
    expect(body, shown).toMatchObject({ correlationId: null, definiteAnswer: null });
    expect(context, shown).toMatchObject({ category: String(body.errorCategory), tid: body.traceId });
    expect(context.participant, shown).toMatch(/^'?participant1::1220aa'?$/);
  }
}
