/**
 * The bytes of a body, counted as they come; null above the limit, of which no more than that is ever held. Throws what
 * the connection throws where it ends before the body does.
 */
export async function readBodyBytes(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done || value === undefined) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      // A stream that failed by itself meanwhile rejects this too, and nobody waits for it.
      reader?.cancel().catch(() => {});
      return null;
    }
    chunks.push(value);
  }
}
