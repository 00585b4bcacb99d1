import type { Context } from 'hono';
import { readBodyBytes } from './body-bytes.ts';
import { HttpFault } from './http-fault.ts';
import { parseJson } from './lossless-json.ts';

const JSON_TYPE = /^application\/(?:[^\s;,]+\+)?json[ \t]*(?:;|$)/i;
const IDENTITY = /^identity$/i;
const EXPECTED = { 'Content-Type': 'application/json', 'Content-Encoding': 'none' } as const;

/** Throws on what is not UTF-8; a byte order mark is left out. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a request's JSON body. Throws a 415 for a Content-Type that is given and not JSON, or a body that is compressed;
 * a 413 for a body above the limit (no more than that is ever held); a 400 for one that is not JSON in UTF-8.
 */
export async function readJsonBody(c: Context, bytesMax: number): Promise<unknown> {
  const type = c.req.header('content-type');
  if (type !== undefined && type !== '' && !JSON_TYPE.test(type)) throw unsupported('Content-Type', type);
  const coding = c.req.header('content-encoding');
  if (coding !== undefined && coding !== '' && !IDENTITY.test(coding)) throw unsupported('Content-Encoding', coding);
  return parseJson(textOf(await readBytes(c, bytesMax)));
}

function unsupported(name: keyof typeof EXPECTED, given: string): HttpFault {
  return new HttpFault(415, `${name}: given ${JSON.stringify(given.slice(0, 100))}, expected ${EXPECTED[name]}`);
}

async function readBytes(c: Context, bytesMax: number): Promise<ArrayBuffer | Uint8Array> {
  const length = c.req.header('content-length');
  if (length === undefined) {
    const bytes = await readBodyBytes(c.req.raw.body, bytesMax).catch(endedEarly);
    if (bytes === null) throw tooLarge(bytesMax);
    return bytes;
  }
  if (Number(length) > bytesMax) throw tooLarge(bytesMax);
  const bytes = await c.req.raw.arrayBuffer().catch(endedEarly);
  // The HTTP parser holds a body to its Content-Length; a request that did not come over a socket may say anything.
  if (bytes.byteLength > bytesMax) throw tooLarge(bytesMax);
  return bytes;
}

function textOf(bytes: ArrayBuffer | Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new HttpFault(400, 'body: not UTF-8');
  }
}

/** The connection is closed behind the answer: what the client still sends is nobody's. */
function tooLarge(bytesMax: number): HttpFault {
  return new HttpFault(413, `body: larger than ${bytesMax} bytes`, { Connection: 'close' });
}

function endedEarly(error: Error): never {
  throw new HttpFault(400, `body: the connection ended before the body did: ${error.message}`);
}
