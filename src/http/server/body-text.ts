import type { Context } from 'hono';
import { HttpFault } from './http-fault.ts';

/** Throws on what is not UTF-8; a byte order mark is left out. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
/**
 * Stands where bytes were no UTF-8, and then the text has another length than its bytes had, unless all of them are characters
 * cut off after their third byte. Those pass, and no harm is done: no field takes this character either.
 */
const REPLACEMENT = '\ufffd';

/**
 * The text of a request's body. Throws a 413 above the limit, of which no more than that is ever held; what `unreadable` makes of a reason,
 * where the body is not UTF-8 or its connection ended before it.
 */
export async function readBodyText(
  c: Context,
  bytesMax: number,
  unreadable: (reason: string) => HttpFault,
): Promise<string> {
  const endedEarly = (error: Error): never => {
    throw unreadable(`the connection ended before the body did: ${error.message}`);
  };
  const length = c.req.header('content-length');
  if (length === undefined) {
    const bytes = await readBodyBytes(c.req.raw.body, bytesMax).catch(endedEarly);
    if (bytes === null) throw tooLarge(bytesMax);
    try {
      return utf8.decode(bytes);
    } catch {
      throw unreadable('not UTF-8');
    }
  }
  if (Number(length) > bytesMax) throw tooLarge(bytesMax);
  // Its bytes would have to be copied to be had, which costs as much as all else that is done with a usual request.
  const text = await c.req.raw.text().catch(endedEarly);
  // The HTTP parser holds a body to its Content-Length; a request that did not come over a socket may say anything.
  if (text.length > bytesMax) throw tooLarge(bytesMax);
  if (text.includes(REPLACEMENT) && Buffer.byteLength(text) !== Number(length)) throw unreadable('not UTF-8');
  return text;
}

/** The connection is closed after the answer: what the client still sends is nobody's. */
function tooLarge(bytesMax: number): HttpFault {
  return new HttpFault(413, `body: larger than ${bytesMax} bytes`, { Connection: 'close' });
}

/**
 * The bytes of a body, counted as they come; null above the limit, of which no more than that is ever held. They are put
 * together at once: kept as they came, a body sent a byte at a time would take a hundred times its size. Throws what the
 * connection throws where it ends before the body does.
 */
async function readBodyBytes(body: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<Uint8Array | null> {
  let held = new Uint8Array(0);
  let bytes = 0;
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done || value === undefined) return held.subarray(0, bytes);
    const needed = bytes + value.byteLength;
    if (needed > bytesMax) {
      // A stream that failed by itself meanwhile rejects this too, and nobody waits for it.
      reader?.cancel().catch(() => {});
      return null;
    }
    if (needed > held.byteLength) held = grown(held.subarray(0, bytes), Math.min(bytesMax, needed * 2));
    held.set(value, bytes);
    bytes = needed;
  }
}

function grown(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(bytes);
  return larger;
}
