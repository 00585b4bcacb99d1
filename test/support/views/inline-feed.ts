import { type DecodedBatch, decodeBatch } from '../../../src/feed/decoded-batch.ts';
import { type FileOptions, openFileSource } from '../../../src/feed/file/file-source.ts';
import type { Message, Source, SourceStart } from '../../../src/feed/source.ts';
import { messageBatches } from '../../../src/ingest/decode-pool.ts';
import type { Feed } from '../../../src/ingest/feed-thread.ts';

/** One message as a batch of its own. */
export function decodeAlone(message: Message, migrationId = 0): DecodedBatch {
  return decodeBatch([message], Buffer.alloc(0), migrationId);
}

async function* decodedBatches(
  source: Source,
  { migrationId, signal }: { migrationId: number; signal: AbortSignal },
): AsyncGenerator<DecodedBatch | SourceStart> {
  for await (const batch of messageBatches(source, signal)) {
    yield 'identity' in batch ? batch : decodeBatch(batch.messages, Buffer.alloc(0), migrationId);
  }
}

/** The batches of a feed file, decoded in this thread. */
export async function* fileBatches(path: string, options: FileOptions = {}): AsyncGenerator<DecodedBatch> {
  const decoding = { migrationId: 0, signal: new AbortController().signal };
  for await (const batch of decodedBatches(openFileSource(path, options), decoding)) if ('raw' in batch) yield batch;
}

/** A feed that decodes in the caller's own thread, one batch at a time. */
export function openInlineFeed(source: Source, { migrationId }: { migrationId: number }): Feed {
  const abort = new AbortController();
  const batches = decodedBatches(source, { migrationId, signal: abort.signal });
  let coming: Promise<IteratorResult<DecodedBatch | SourceStart>> | null = null;
  return {
    /** False only while a batch is awaited; otherwise the next one may be there. */
    get ready() {
      return coming === null;
    },
    get telemetry() {
      return source.telemetry?.() ?? null;
    },
    get progress() {
      return source.progress();
    },
    async next(waitMs) {
      coming ??= batches.next();
      const result = await withTimeout(coming, waitMs);
      if (result === 'late') return 'idle';
      coming = null;
      return result.done === true ? 'end' : result.value;
    },
    stored: (resumeTokens, furthest) => source.stored?.(resumeTokens, furthest),
    applied: () => {},
    async [Symbol.asyncDispose]() {
      abort.abort();
      await coming?.catch(() => {});
      await batches.return(undefined);
    },
  };
}

/** Waits for the promise, but no longer than the time: then `late`. */
function withTimeout<Value>(promise: Promise<Value>, waitMs: number): Promise<Value | 'late'> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, waitMs, 'late');
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
