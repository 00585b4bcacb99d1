import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLinesFile } from '../feed/file/lines-file.ts';
import { openFileSource } from '../feed/file/source.ts';
import type { Message } from '../feed/source.ts';

/**
 * Keeps a seed on disk until all of it is there: another Scan, or the same one later, has another seed, and who reads a topic
 * should not wait for as long as it takes to come.
 */
export interface SeedSpool extends Disposable {
  /** Whether a seed has begun whose end is not there. */
  readonly isOpen: boolean;
  /** Begins a seed, or begins it anew. */
  begin(): Promise<void>;
  write(messages: readonly Uint8Array[]): Promise<void>;
  /** All that was written, once. */
  take(signal: AbortSignal): AsyncGenerator<readonly Message[]>;
}

export function createSeedSpool(): SeedSpool {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-seed-'));
  const path = join(folder, 'seed.ndjson');
  let file: ReturnType<typeof openLinesFile> | null = null;
  return {
    get isOpen() {
      return file !== null;
    },
    async begin() {
      if (file === null) file = openLinesFile(path, process.stdout, 0);
      else await file.clear();
    },
    async write(messages) {
      await file!.write(messages);
    },
    async *take(signal) {
      await file!.end();
      file = null;
      yield* openFileSource(path).batches(signal);
      signal.throwIfAborted();
      rmSync(path);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
