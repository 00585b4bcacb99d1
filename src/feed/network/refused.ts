import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';

/** Of an error's body as much as a message can show. */
const SAID_BYTES_MAX = 16_384;
const SAID_CHARS_MAX = 300;

/** An answer with another status than the one wanted. */
export interface Refused {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** ` which refers to https://...`, for a message; empty where it refers to nothing. */
  readonly where: string;
  /** What its body begins with; empty where that cannot be read. */
  readonly body: Buffer;
}

export async function readRefused(response: IncomingMessage): Promise<Refused> {
  const { statusCode: status = 0, headers } = response;
  const body = (await readBody(response, SAID_BYTES_MAX).catch(() => null)) ?? Buffer.alloc(0);
  const where = headers.location === undefined ? '' : `, which refers to ${headers.location}`;
  return { status, retryAfterMs: retryAfterMs(headers['retry-after']), where, body };
}

/** The body, unpacked; null where it is longer than the limit. */
export async function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  const content = encoding === 'gzip' ? unpacked(response) : response;
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of content as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > bytesMax) {
      response.destroy();
      return null;
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function unpacked(response: IncomingMessage): NodeJS.ReadableStream {
  const gunzip = createGunzip();
  // A socket that closes early is no error of a pipe: unpacking must fail too.
  response.on('error', (error) => gunzip.destroy(error));
  return response.pipe(gunzip);
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
