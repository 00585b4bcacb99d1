import type { Context } from 'hono';
import type { z } from 'zod';
import { endOfString, isDeeperThan } from '../../json/nesting.ts';
import { contentCoding, readBodyText } from '../server/body-text.ts';
import { invalidValue } from './request.ts';

/** The text of a request's body. Throws a 413 above the limit, a 400 where it is compressed or not UTF-8. */
export async function readBody(c: Context, bytesMax: number): Promise<string> {
  const text = await readBodyText(c, bytesMax, (reason) => invalidValue('body', reason));
  const coding = contentCoding(c.req.header('content-encoding'));
  if (coding !== null) throw invalidValue('body', `Content-Encoding: given ${JSON.stringify(coding)}, expected none`);
  return text;
}

/** No request of this area needs deeper nesting, which is costly to process. */
const DEPTH_MAX = 64;
/** More than any request needs; many small values cost far more time than their bytes. */
const VALUES_MAX = 200_000;

/** A body by its schema; throws a 400 in plain text for invalid JSON, too deep nesting, or another form. */
export function decodeBody<Body>(schema: z.ZodType<Body>, bodyText: string): Body {
  // Checked on the text, so that no value too deep or too large is created.
  if (isDeeperThan(bodyText, DEPTH_MAX)) throw invalidValue('body', `nested deeper than ${DEPTH_MAX} levels`);
  if (hasMoreValuesThan(bodyText, VALUES_MAX)) throw invalidValue('body', `more than ${VALUES_MAX} values`);
  let value: unknown;
  try {
    value = JSON.parse(bodyText);
  } catch {
    throw invalidValue('body', `expected json value, given ${bodyText === '' ? 'nothing' : 'something else'}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw invalidValue('body', path.length === 0 ? message : `${message} at '${path.map(String).join('.')}'`);
}

/** Counts commas outside strings. */
function hasMoreValuesThan(text: string, valuesMax: number): boolean {
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === ',' && ++values > valuesMax) return true;
  }
  return false;
}
