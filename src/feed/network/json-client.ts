import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import { isObject } from '../../json/untrusted.ts';
import { CONTAINER_BYTES_MAX } from '../limits.ts';
import { AnswerFailure } from './failure.ts';
import { type ReadError, readBody, refusalOf } from './refused.ts';
import { describeError, type ServerOptions } from './server-options.ts';

/** A Scan gives up after 38 s by itself; what drips in for longer than this is given up here. */
const ANSWER_TIMEOUT_MS = 90_000;

/** An answer: its bytes, for what is used as it came, and what they mean. */
export interface JsonAnswer {
  readonly bytes: Buffer;
  readonly value: unknown;
}

/** One server. Throws AnswerFailure for whatever is no answer; answers and the time for one are bounded, redirects refused. */
export interface JsonClient extends Disposable {
  readonly url: string;
  /** Aborts whatever is asked. */
  readonly signal: AbortSignal;
  /** A path below the server's, or below its host where it begins with `//`; with a body it is posted. */
  ask(path: string, body?: object): Promise<JsonAnswer>;
  /** A field of the answer, by which an answer without it is a failure. */
  askField<Value>(path: string, field: string, isValue: (value: unknown) => value is Value): Promise<Value>;
  /** The answer's bytes alone, which may be no JSON. */
  askBytes(path: string, body?: object): Promise<Buffer>;
}

export interface JsonClientOptions {
  readonly server: ServerOptions;
  readonly signal: AbortSignal;
  /** Headers of a request, such as its token; they may fail. */
  readonly headers?: () => Promise<Readonly<Record<string, string>>>;
  readonly readError: ReadError;
  readonly answerBytesMax?: number;
  /** Of an answer that is parsed as one value: its memory may be fifty times its length. */
  readonly parsedBytesMax?: number;
  readonly answerTimeoutMs?: number;
}

export function createJsonClient(
  url: string,
  {
    server,
    signal,
    headers = async () => ({}),
    readError,
    answerBytesMax = CONTAINER_BYTES_MAX,
    parsedBytesMax = answerBytesMax,
    answerTimeoutMs = ANSWER_TIMEOUT_MS,
  }: JsonClientOptions,
): JsonClient {
  const isTls = url.startsWith('https:');
  const { ca } = server;
  const agent = isTls
    ? new HttpsAgent({ keepAlive: true, ...(ca !== null && { ca }) })
    : new HttpAgent({ keepAlive: true });

  async function askBytes(path: string, body?: object, bytesMax = answerBytesMax): Promise<Buffer> {
    const target = path.startsWith('//') ? new URL(path.slice(1), url) : new URL(`${url}${path}`);
    const own = await headers();
    const timeout = AbortSignal.timeout(answerTimeoutMs);
    const cannot = (what: string, cause?: unknown, isTooMuch = false): AnswerFailure =>
      new AnswerFailure(`${target.href}: ${what}`, { cause, isTooMuch });
    try {
      const sent = body === undefined ? null : JSON.stringify(body);
      const options: RequestOptions = {
        method: sent === null ? 'GET' : 'POST',
        agent,
        signal: AbortSignal.any([signal, timeout]),
        headers: {
          accept: 'application/json',
          'accept-encoding': 'gzip',
          ...(sent !== null && { 'content-type': 'application/json' }),
          ...own,
        },
      };
      const response = await requestOnce(target, options, sent);
      if (response.statusCode !== 200) throw await refusalOf(target.href, response, readError);
      const bytes = await readBody(response, bytesMax);
      if (bytes === null) throw cannot(`answers with more than ${bytesMax} bytes`, undefined, true);
      return bytes;
    } catch (error) {
      if (error instanceof AnswerFailure || signal.aborted) throw error;
      if (timeout.aborted) throw cannot(`has not answered within ${answerTimeoutMs / 1000} s`, error, true);
      throw cannot(describeError(error as NodeJS.ErrnoException, server), error);
    }
  }

  async function ask(path: string, body?: object): Promise<JsonAnswer> {
    const bytes = await askBytes(path, body, Math.min(parsedBytesMax, answerBytesMax));
    try {
      return { bytes, value: JSON.parse(bytes.toString()) as unknown };
    } catch (cause) {
      throw new AnswerFailure(`${url}${path}: answers with what is no JSON`, { cause });
    }
  }

  async function askField<Value>(
    path: string,
    field: string,
    isValue: (value: unknown) => value is Value,
  ): Promise<Value> {
    const { value } = await ask(path);
    const found = isObject(value) ? value[field] : undefined;
    if (!isValue(found)) throw new AnswerFailure(`${url}${path}: answers without ${field}`);
    return found;
  }

  return { url, signal, ask, askField, askBytes, [Symbol.dispose]: () => agent.destroy() };
}

/** The answer's head; no redirect is followed. */
export function requestOnce(target: URL, options: RequestOptions, body: string | null): Promise<IncomingMessage> {
  const request = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    request(target, options).on('response', resolve).on('error', reject).end(body);
  });
}

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
