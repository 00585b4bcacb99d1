import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import { HttpFault } from './http-fault.ts';

const IDENTITY = /^(identity)?$/i;
/** Throws on what is not UTF-8; a byte order mark is left out. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
/**
 * Replaces bytes that are no UTF-8, and then the text's length in UTF-8 differs from that of the bytes, unless all of them are
 * characters cut off after their third byte. Those pass without harm: no field accepts this character either.
 */
const REPLACEMENT = '\ufffd';

/**
 * How long the rest of a body that is too large is taken, and not kept, before it is refused: a usual client sends all of its
 * request before it reads the answer, and loses it with a connection that ends before that.
 */
const REST_MS_MAX = 1_000;
/** One that sends nothing for so long waits for the answer. */
const REST_PAUSE_MS_MAX = 200;

/**
 * The text of a request's body. Throws a 413 above the limit (never reading more than that into memory), and the error of
 * `unreadable` where the body is not UTF-8 or its connection ended early.
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
  if (Number(length) > bytesMax) {
    await discard(c.req.raw.body?.getReader());
    throw tooLarge(bytesMax);
  }
  // Reading its bytes would need a copy, which costs as much as everything else for a usual request.
  const text = await c.req.raw.text().catch(endedEarly);
  // The HTTP parser checks the Content-Length; a request that did not come over a socket may have any.
  if (text.length > bytesMax) throw tooLarge(bytesMax);
  if (text.includes(REPLACEMENT) && Buffer.byteLength(text) !== Number(length)) throw unreadable('not UTF-8');
  return text;
}

/** How a request's body is compressed, which is not supported; null where it is not. */
export function contentCoding(header: string | undefined): string | null {
  return header === undefined || IDENTITY.test(header) ? null : header.slice(0, 100);
}

/** The connection is closed after the answer, because no more of the body is read. */
function tooLarge(bytesMax: number): HttpFault {
  return new HttpFault(413, `body: larger than ${bytesMax} bytes`, { Connection: 'close' });
}

/**
 * The bytes of a body, counted as they come; null above the limit, and never more than that in memory. Chunks are joined as
 * they come: kept apart, a body sent a byte at a time would take a hundred times its size. Throws the connection's error
 * where it ends before the body.
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
      await discard(reader);
      return null;
    }
    if (needed > held.byteLength) held = new Uint8Array(held.buffer.transfer(Math.min(bytesMax, needed * 2)));
    held.set(value, bytes);
    bytes = needed;
  }
}

/** Never cancels the body: that would end its connection, and the answer with it. */
async function discard(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<void> {
  const until = performance.now() + REST_MS_MAX;
  let goesOn = reader !== undefined;
  while (goesOn && performance.now() < until) {
    const more = reader!.read().then(
      ({ done }) => !done,
      () => false,
    );
    goesOn = await Promise.race([more, sleep(REST_PAUSE_MS_MAX, false, { ref: false })]);
  }
}
