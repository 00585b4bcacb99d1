import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { readBounded } from '../../bounded-body.ts';
import { type AboutFailure, AnswerFailure } from './failure.ts';

/** Of an error's body as much as a message can show. */
const SAID_BYTES_MAX = 16_384;
const SAID_CHARS_MAX = 300;
/** JSON of a ledger is packed to about a tenth. */
const RATIO = 12;
const UNPACKED_BYTES_MIN = 4_096;
const gunzip = promisify(zlib.gunzip);

/** What the body of an error says, shortened, and what follows of it; the body is empty where it cannot be read. */
export type ReadError = (
  status: number,
  body: Buffer,
) => Partial<AboutFailure> & { readonly said: string; readonly advice?: string };

/** The failure that an answer with another status than the one wanted is. `target`: what was asked. */
export async function refusalOf(
  target: string,
  response: IncomingMessage,
  readError: ReadError,
): Promise<AnswerFailure> {
  const { statusCode: status = 0, headers } = response;
  const body = (await readBody(response, SAID_BYTES_MAX).catch(() => null)) ?? Buffer.alloc(0);
  const { said, advice = '', ...about } = readError(status, body);
  const where = headers.location === undefined ? '' : `, which refers to ${headers.location}`;
  const text = `${target}: answers ${status}${where}${said === '' ? '' : ` (${said})`}${advice}`;
  return new AnswerFailure(text, { status, retryAfterMs: retryAfterMs(headers['retry-after']), ...about });
}

/** The body, unpacked; null where it is longer than the limit. */
export async function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  const body = await readBounded(response, bytesMax);
  return response.headers['content-encoding'] === 'gzip' && body !== null ? unpacked(body, bytesMax) : body;
}

/** Unpacks in one step where it can, which another thread does while this one has other work. */
async function unpacked(packed: Buffer, bytesMax: number): Promise<Buffer | null> {
  const chunkSize = Math.min(packed.length * RATIO + UNPACKED_BYTES_MIN, bytesMax);
  try {
    return await gunzip(packed, { chunkSize, maxOutputLength: bytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw error;
  }
}

/** A number of seconds, or a date. */
function retryAfterMs(given: string | undefined): number | null {
  if (given === undefined) return null;
  const ms = /^\d+$/.test(given) ? Number(given) * 1000 : Date.parse(given) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(ms, 0);
}

/** A server's own words in one short line. */
export function shortened(said: string): string {
  return said.replaceAll(/\s+/g, ' ').trim().slice(0, SAID_CHARS_MAX);
}
