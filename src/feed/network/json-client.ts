import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { z } from 'zod';
import { readBounded } from '../../bounded-fetch.ts';
import { parseLedgerTime } from '../../ledger/time.ts';
import type { RetryPolicy } from '../../retry.ts';
import { CONTAINER_BYTES_MAX } from '../limits.ts';

/** A Scan gives up after 38 s by itself. */
const ANSWER_TIMEOUT_MS = 90_000;
/** Of the body of an error, and of its text in a message. */
const ERROR_BYTES_MAX = 16_384;
const ERROR_CHARS_MAX = 300;
/** JSON of a ledger is compressed to about a tenth. */
const GZIP_RATIO = 12;
const UNPACKED_BYTES_MIN = 4_096;
const gunzip = promisify(zlib.gunzip);

const RETRY_AFTER_MS_MAX = 10 * 60_000;

/** What to do after a failure: ask again at once, perhaps with a new token; ask again after a pause; or give up. */
export type Conduct = 'new token' | 'reconnect' | 'back off' | 'stop';

export interface AboutFailure {
  readonly conduct: Conduct;
  /** Absent where there was no answer, or an answer with status 200 that cannot be read. */
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  /** A smaller answer may be given. */
  readonly isTooMuch?: boolean;
  /** The largest page that a Scan gives, where it said so. */
  readonly pageSizeMax?: number | undefined;
  /** The server's own name of the error. */
  readonly code?: string | undefined;
  /** The `context` of a participant's error. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** The user of the token lacks a right. */
  readonly isDenied?: boolean;
}

/** A server did not answer as it should. The message names the server and what it said, and never what it was sent. */
export class AnswerFailure extends Error {
  override readonly name = 'AnswerFailure';
  readonly about: AboutFailure;

  constructor(message: string, { cause, ...about }: Partial<AboutFailure> & { readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.about = { conduct: 'back off', ...about };
  }
}

export function mayStatusPass(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

export function isPassing(error: unknown): error is AnswerFailure {
  return error instanceof AnswerFailure && error.about.conduct !== 'stop';
}

/** The random part keeps apart the readers that failed at the same moment. */
export const RETRY_ANSWER: RetryPolicy = {
  firstMs: 500,
  longestMs: 30_000,
  forMsMax: null,
  passes: isPassing,
  pauseMs: (error, usualMs) => {
    const asked = error instanceof AnswerFailure ? Math.min(error.about.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX) : 0;
    return asked + usualMs * (0.5 + Math.random() / 2);
  },
};

/** What the body of an error says, and what follows from it. The body is empty where it cannot be read. */
export type ReadError = (
  status: number,
  body: Buffer,
) => Partial<AboutFailure> & { readonly said: string; readonly advice?: string };

/** One server. Throws AnswerFailure for all that is no answer. Size and time of an answer are bounded, redirects are refused. */
export interface JsonClient extends Disposable {
  readonly url: string;
  /** Aborts all requests. */
  readonly signal: AbortSignal;
  /**
   * The JSON of a path below the server's, or below its host where it begins with `//`; a body is posted, as JSON or as a form.
   * Throws AnswerFailure for an answer that is not of the schema.
   */
  ask<Schema extends z.ZodType>(path: string, schema: Schema, body?: object): Promise<z.output<Schema>>;
  /** The bytes of an answer, which is not parsed. */
  askBytes(path: string, body?: object): Promise<Buffer>;
}

export interface JsonClientOptions {
  /** PEM of the authorities that may sign its certificate; null for the system's. */
  readonly ca: string | null;
  /** The setting that names their file, for messages. */
  readonly caSetting: string;
  readonly signal: AbortSignal;
  /** Headers of each request, such as its token. */
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
    ca,
    caSetting,
    signal,
    headers = async () => ({}),
    readError,
    answerBytesMax = CONTAINER_BYTES_MAX,
    parsedBytesMax = answerBytesMax,
    answerTimeoutMs = ANSWER_TIMEOUT_MS,
  }: JsonClientOptions,
): JsonClient {
  const agent = url.startsWith('https:')
    ? new HttpsAgent({ keepAlive: true, ...(ca !== null && { ca }) })
    : new HttpAgent({ keepAlive: true });

  async function askBytes(path: string, body?: object, bytesMax = answerBytesMax): Promise<Buffer> {
    const target = path.startsWith('//') ? new URL(path.slice(1), url) : new URL(`${url}${path}`);
    const own = await headers();
    const timeout = AbortSignal.timeout(answerTimeoutMs);
    const cannot = (what: string, cause?: unknown, isTooMuch = false): AnswerFailure =>
      new AnswerFailure(`${target.href}: ${what}`, { cause, isTooMuch });
    try {
      const isForm = body instanceof URLSearchParams;
      const options: RequestOptions = {
        method: body === undefined ? 'GET' : 'POST',
        agent,
        signal: AbortSignal.any([signal, timeout]),
        headers: {
          accept: 'application/json',
          'accept-encoding': 'gzip',
          ...(body && { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' }),
          ...own,
        },
      };
      const response = await responseTo(target, options, body && (isForm ? String(body) : JSON.stringify(body)));
      if (response.statusCode !== 200) throw await failureOf(target.href, response, readError);
      const bytes = await readBody(response, bytesMax);
      if (bytes === null) throw cannot(`answers with more than ${bytesMax} bytes`, undefined, true);
      return bytes;
    } catch (error) {
      if (error instanceof AnswerFailure || signal.aborted) throw error;
      if (timeout.aborted) throw cannot(`has not answered within ${answerTimeoutMs / 1000} s`, error, true);
      throw cannot(describeError(error as NodeJS.ErrnoException, caSetting), error);
    }
  }

  async function ask<Schema extends z.ZodType>(path: string, schema: Schema, body?: object): Promise<z.output<Schema>> {
    const bytes = await askBytes(path, body, Math.min(parsedBytesMax, answerBytesMax));
    const { data, error } = schema.safeParse(parseAnswer(`${url}${path}`, bytes));
    if (error === undefined) return data;
    const field = error.issues[0]!.path.join('.');
    throw new AnswerFailure(`${url}${path}: answers without ${field || 'a JSON object'}`);
  }

  return { url, signal, ask, askBytes, [Symbol.dispose]: () => agent.destroy() };
}

/** Throws AnswerFailure for what is no JSON. */
export function parseAnswer(target: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (cause) {
    throw new AnswerFailure(`${target}: answers with what is no JSON`, { cause });
  }
}

function responseTo(target: URL, options: RequestOptions, body: string | undefined): Promise<IncomingMessage> {
  const request = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    request(target, options).on('response', resolve).on('error', reject).end(body);
  });
}

/** Null where it is longer than the limit. */
async function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  const body = await readBounded(response, bytesMax);
  if (body === null || response.headers['content-encoding'] !== 'gzip') return body;
  // Mostly one step, in another thread.
  const chunkSize = Math.min(body.length * GZIP_RATIO + UNPACKED_BYTES_MIN, bytesMax);
  return gunzip(body, { chunkSize, maxOutputLength: bytesMax }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw error;
  });
}

/** The failure that an answer with another status than the expected one is. */
export async function failureOf(
  target: string,
  response: IncomingMessage,
  readError: ReadError,
): Promise<AnswerFailure> {
  const { statusCode: status = 0, headers } = response;
  const body = (await readBody(response, ERROR_BYTES_MAX).catch(() => null)) ?? Buffer.alloc(0);
  const { said, advice = '', ...about } = readError(status, body);
  const where = headers.location === undefined ? '' : `, which refers to ${headers.location}`;
  const text = `${target}: answers ${status}${where}${said === '' ? '' : ` (${said})`}${advice}`;
  return new AnswerFailure(text, { status, retryAfterMs: retryAfterMs(headers['retry-after']), ...about });
}

/** From a number of seconds, or a date. */
function retryAfterMs(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = /^\d+$/.test(given) ? Number(given) * 1000 : Date.parse(given) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

/** A server's own words in one short line. */
export function shortened(said: string): string {
  return said.replaceAll(/\s+/g, ' ').trim().slice(0, ERROR_CHARS_MAX);
}

const UNKNOWN_AUTHORITY = [
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
];
/** Node's messages for an answer that ends early. */
const IN_WORDS: Readonly<Record<string, string>> = {
  aborted: 'its answer was cut off',
  'socket hang up': 'closed the connection before it answered',
};

/** What went wrong with a connection, and which setting may fix it. */
export function describeError({ code = '', message }: NodeJS.ErrnoException, caSetting: string): string {
  const what = IN_WORDS[message] ?? (message || code);
  if (code.startsWith('Z_')) return `its answer is no gzip, or cut off: ${what}`;
  if (UNKNOWN_AUTHORITY.includes(code))
    return `${what}: ${caSetting} names the file of the authority that signed its certificate`;
  return what;
}

export const TEXT = z.string().min(1);
export const COUNT = z.int().min(0);
export const LEDGER_TIME = z.string().transform((text, { issues }) => {
  const time = parseLedgerTime(text);
  if (time !== null) return time;
  issues.push({ code: 'custom', input: text });
  return z.NEVER;
});
