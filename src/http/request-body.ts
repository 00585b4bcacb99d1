import type { Context } from 'hono';
import { readBodyBytes } from './body-bytes.ts';
import { HttpFault } from './http-fault.ts';
import { parseJson } from './lossless-json.ts';

const JSON_TYPE = /^application\/(?:[^\s;,]+\+)?json[ \t]*(?:;|$)/i;

/**
 * Reads a request's JSON body. Throws a 415 for a Content-Type that is given and not JSON, a 413 for a body above the
 * limit (no more than that is ever held), a 400 for one that is not JSON.
 */
export async function readJsonBody(c: Context, bytesMax: number): Promise<unknown> {
  const type = c.req.header('content-type');
  if (type !== undefined && type !== '' && !JSON_TYPE.test(type))
    throw new HttpFault(415, `Content-Type: given ${JSON.stringify(type.slice(0, 100))}, expected application/json`);
  return parseJson(await readText(c, bytesMax));
}

async function readText(c: Context, bytesMax: number): Promise<string> {
  const length = c.req.header('content-length');
  if (length === undefined) {
    const bytes = await readBodyBytes(c.req.raw.body, bytesMax).catch(endedEarly);
    if (bytes === null) throw tooLarge(bytesMax);
    return new TextDecoder().decode(bytes);
  }
  if (Number(length) > bytesMax) throw tooLarge(bytesMax);
  const text = await c.req.raw.text().catch(endedEarly);
  // The HTTP parser holds a body to its Content-Length; a request that did not come over a socket may say anything.
  if (text.length > bytesMax) throw tooLarge(bytesMax);
  return text;
}

/** The connection is closed behind the answer: what the client still sends is nobody's. */
function tooLarge(bytesMax: number): HttpFault {
  return new HttpFault(413, `body: larger than ${bytesMax} bytes`, { Connection: 'close' });
}

function endedEarly(error: Error): never {
  throw new HttpFault(400, `body: the connection ended before the body did: ${error.message}`);
}
