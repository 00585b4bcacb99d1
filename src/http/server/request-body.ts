import type { Context } from 'hono';
import { contentCoding, readBodyText } from './body-text.ts';
import { HttpFault } from './http-fault.ts';
import { parseJson } from './lossless-json.ts';

const JSON_TYPE = /^application\/(?:[^\s;,]+\+)?json[ \t]*(?:;|$)/i;
const EXPECTED = { 'Content-Type': 'application/json', 'Content-Encoding': 'none' } as const;

/**
 * Reads a request's JSON body. Throws a 415 for a Content-Type that is given and not JSON, or a body that is compressed;
 * a 413 for a body above the limit (never more than that in memory); a 400 for one that is not JSON in UTF-8.
 */
export async function readJsonBody(c: Context, bytesMax: number): Promise<unknown> {
  const type = c.req.header('content-type');
  if (type !== undefined && type !== '' && !JSON_TYPE.test(type)) throw unsupported('Content-Type', type);
  const coding = contentCoding(c.req.header('content-encoding'));
  if (coding !== null) throw unsupported('Content-Encoding', coding);
  return parseJson(await readBodyText(c, bytesMax, (reason) => new HttpFault(400, `body: ${reason}`)));
}

function unsupported(name: keyof typeof EXPECTED, given: string): HttpFault {
  return new HttpFault(415, `${name}: given ${JSON.stringify(given.slice(0, 100))}, expected ${EXPECTED[name]}`);
}
