import type { Context } from 'hono';
import { readBodyBytes } from '../server/body-bytes.ts';
import { contentCoding } from '../server/content-coding.ts';
import { invalidValue, PlainFault } from './plain-fault.ts';

/** The text of a request's body. Throws a 413 above the limit (no more is ever held), a 400 for what is compressed or not UTF-8. */
export async function readBodyText(c: Context, bytesMax: number): Promise<string> {
  const length = c.req.header('content-length');
  if (length !== undefined && Number(length) > bytesMax) throw tooLarge(bytesMax);
  const bytes = await readBodyBytes(c.req.raw.body, bytesMax).catch(endedEarly);
  if (bytes === null) throw tooLarge(bytesMax);
  const coding = contentCoding(c.req.header('content-encoding'));
  if (coding !== null) throw invalidValue('body', `Content-Encoding: given ${JSON.stringify(coding)}, expected none`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidValue('body', 'not UTF-8');
  }
}

/** The connection is closed behind the answer: what the client still sends is nobody's. */
function tooLarge(bytesMax: number): PlainFault {
  return new PlainFault(413, `The request's body is larger than ${bytesMax} bytes`, { Connection: 'close' });
}

function endedEarly(): never {
  throw invalidValue('body', 'the connection ended before the body did');
}
