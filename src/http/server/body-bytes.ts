/**
 * The bytes of a body, counted as they come; null above the limit, of which no more than that is ever held. They are put
 * together at once: kept as they came, a body sent a byte at a time would take a hundred times its size. Throws what the
 * connection throws where it ends before the body does.
 */
export async function readBodyBytes(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array | null> {
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
