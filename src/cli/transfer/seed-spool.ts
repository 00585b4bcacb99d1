import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileSource } from '../../feed/file/file-source.ts';
import { type LinesFile, openLinesFile } from '../../feed/file/lines-file.ts';
import type { Message } from '../../feed/source.ts';

/**
 * Keeps a seed on disk until all of it is there: another Scan, or the same one later, has another seed, and who reads a topic
 * should not wait for as long as it takes to come.
 */
export class SeedSpool implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdfast-seed-'));
  readonly #path = join(this.#folder, 'seed.ndjson');
  #file: LinesFile | null = null;

  /** Whether a seed has begun whose end is not there. */
  get isOpen(): boolean {
    return this.#file !== null;
  }

  /** Begins a seed, or begins it anew. */
  async begin(): Promise<void> {
    if (this.#file === null) this.#file = openLinesFile(this.#path, process.stdout, 0);
    else await this.#file.clear();
  }

  async write(messages: readonly Uint8Array[]): Promise<void> {
    await this.#file!.write(messages);
  }

  /** All that was written, once. */
  async *take(signal: AbortSignal): AsyncGenerator<readonly Message[]> {
    await this.#file!.end();
    this.#file = null;
    yield* openFileSource(this.#path).batches(signal);
    signal.throwIfAborted();
    rmSync(this.#path);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
