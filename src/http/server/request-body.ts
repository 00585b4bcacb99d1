import type { Context } from 'hono';
import { readBodyBytes } from './body-bytes.ts';
import { contentCoding } from './content-coding.ts';
import { HttpFault } from './http-fault.ts';
import { parseJson } from './lossless-json.ts';

const JSON_TYPE = /^application\/(?:[^\s;,]+\+)?json[ \t]*(?:;|$)/i;
const EXPECTED = { 'Content-Type': 'application/json', 'Content-Encoding': 'none' } as const;

/** Throws on what is not UTF-8; a byte order mark is left out. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
/**
 * Stands where bytes were no UTF-8, and then the text has another length than its bytes had, unless all of them are characters
 * cut off behind their third byte. Those pass, and no harm is done: no field takes this character either.
 */
const REPLACEMENT = '\ufffd';

/**
 * Reads a request's JSON body. Throws a 415 for a Content-Type that is given and not JSON, or a body that is compressed;
 * a 413 for a body above the limit (no more than that is ever held); a 400 for one that is not JSON in UTF-8.
 */
export async function readJsonBody(c: Context, bytesMax: number): Promise<unknown> {
  const type = c.req.header('content-type');
  if (type !== undefined && type !== '' && !JSON_TYPE.test(type)) throw unsupported('Content-Type', type);
  const coding = contentCoding(c.req.header('content-encoding'));
  if (coding !== null) throw unsupported('Content-Encoding', coding);
  return parseJson(await readText(c, bytesMax));
}

function unsupported(name: keyof typeof EXPECTED, given: string): HttpFault {
  return new HttpFault(415, `${name}: given ${JSON.stringify(given.slice(0, 100))}, expected ${EXPECTED[name]}`);
}

async function readText(c: Context, bytesMax: number): Promise<string> {
  const length = c.req.header('content-length');
  if (length === undefined) {
    const bytes = await readBodyBytes(c.req.raw.body, bytesMax).catch(endedEarly);
    if (bytes === null) throw tooLarge(bytesMax);
    return decode(bytes);
  }
  if (Number(length) > bytesMax) throw tooLarge(bytesMax);
  // Its bytes would have to be copied to be had, which costs as much as all else that is done with a usual request.
  const text = await c.req.raw.text().catch(endedEarly);
  // The HTTP parser holds a body to its Content-Length; a request that did not come over a socket may say anything.
  if (text.length > bytesMax) throw tooLarge(bytesMax);
  if (text.includes(REPLACEMENT) && Buffer.byteLength(text) !== Number(length)) throw notUtf8();
  return text;
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw notUtf8();
  }
}

function notUtf8(): HttpFault {
  return new HttpFault(400, 'body: not UTF-8');
}

/** The connection is closed behind the answer: what the client still sends is nobody's. */
function tooLarge(bytesMax: number): HttpFault {
  return new HttpFault(413, `body: larger than ${bytesMax} bytes`, { Connection: 'close' });
}

function endedEarly(error: Error): never {
  throw new HttpFault(400, `body: the connection ended before the body did: ${error.message}`);
}
