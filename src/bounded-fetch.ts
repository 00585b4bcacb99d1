/** A body of chunks, such as that of a response of `fetch`; null where it is longer than the limit, and then it is given up. */
export async function readBounded(body: AsyncIterable<Uint8Array> | null, bytesMax: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels what is read.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Why a `fetch` failed: its error has that in its cause, which of several addresses that all failed has only a code. */
export function fetchFailure(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: Partial<NodeJS.ErrnoException> };
  return cause?.message || cause?.code || message;
}
