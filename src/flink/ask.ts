import type { ZodType } from 'zod';
import { fetchFailure, readBounded } from '../bounded-fetch.ts';
import { isObject, jsonOrNull } from '../json/untrusted.ts';
import { FlinkFailure, redacted, rootCause } from './failure.ts';

/** Of each answer; what takes long is asked for again and again. */
const ANSWER_MS_MAX = 30_000;
const ANSWER_BYTES_MAX = 16 * 2 ** 20;

/** Asks one of Flink's servers. Throws a FlinkFailure where it gives no answer, refuses, or answers with what is no JSON. */
export type AskFlink = <Answer>(
  answer: ZodType<Answer>,
  path: string,
  how?: { readonly method?: string; readonly body?: object },
) => Promise<Answer>;

/** `name`: what the server is, for messages. `secrets`: what they must not show. */
export function createAsk(base: string, name: string, secrets: readonly string[] = []): AskFlink {
  const root = base.replace(/\/+$/, '');

  async function ask(path: string, { method = 'GET', body }: NonNullable<Parameters<AskFlink>[2]>): Promise<unknown> {
    try {
      const response = await fetch(`${root}${path}`, {
        method,
        redirect: 'error',
        headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      const bytes = await readBounded(response.body, ANSWER_BYTES_MAX);
      if (bytes === null) throw new Error(`more than ${ANSWER_BYTES_MAX} bytes`);
      if (!response.ok) throw refused(name, response.status, redacted(rootCause(stackOf(bytes.toString())), secrets));
      return bytes.length === 0 ? {} : (JSON.parse(bytes.toString()) as unknown);
    } catch (error) {
      if (error instanceof FlinkFailure) throw error;
      throw new FlinkFailure(`${name} at ${root} gives no answer: ${fetchFailure(error)}`, { cause: error });
    }
  }
  return async (answer, path, how = {}) => answer.parse(await ask(path, how));
}

function refused(name: string, status: number, cause: string): FlinkFailure {
  return new FlinkFailure(`${name} answers ${status}: ${cause}`, { status });
}

/** Refusals are stacks of Java's exceptions in JSON; anything else is of something between us and Flink. */
function stackOf(said: string): string {
  const answer = jsonOrNull(said);
  return isObject(answer) && Array.isArray(answer.errors) ? String(answer.errors.at(-1)) : said;
}
