import type { Context } from 'hono';
import { readBodyText } from '../server/body-text.ts';
import { contentCoding } from '../server/content-coding.ts';
import { invalidValue } from './invalid-value.ts';

/** The text of a request's body. Throws a 413 above the limit, a 400 where it is compressed or not UTF-8. */
export async function readBody(c: Context, bytesMax: number): Promise<string> {
  const text = await readBodyText(c, bytesMax, (reason) => invalidValue('body', reason));
  const coding = contentCoding(c.req.header('content-encoding'));
  if (coding !== null) throw invalidValue('body', `Content-Encoding: given ${JSON.stringify(coding)}, expected none`);
  return text;
}
