import type { Context } from 'hono';
import { invalidValue, PlainFault } from './plain-fault.ts';

/** The text of a request's body. Throws a 413 above the limit (no more is ever held), a 400 for what is not UTF-8. */
export async function readBodyText(c: Context, bytesMax: number): Promise<string> {
  const length = c.req.header('content-length');
  if (length !== undefined && Number(length) > bytesMax) throw tooLarge(bytesMax);
  const bytes = await readBytes(c.req.raw.body, bytesMax);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidValue('body', 'not UTF-8');
  }
}

async function readBytes(body: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read().catch(endedEarly)) ?? { done: true, value: undefined };
    if (done || value === undefined) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      // Whether the stream can still be ended cleanly is of no interest: the answer is the same.
      reader?.cancel().catch(() => {});
      throw tooLarge(bytesMax);
    }
    chunks.push(value);
  }
}

/** The connection is closed behind the answer: what the client still sends is nobody's. */
function tooLarge(bytesMax: number): PlainFault {
  return new PlainFault(413, `The request's body is larger than ${bytesMax} bytes`, { Connection: 'close' });
}

function endedEarly(): never {
  throw invalidValue('body', 'the connection ended before the body did');
}
