import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileOptions, openFileSource } from '../../../src/feed/file/file-source.ts';
import { BrokenContainer, type Message } from '../../../src/feed/source.ts';

/** What came of a file: the messages handed over, and the break that ended them. */
export interface Reading {
  readonly messages: readonly Message[];
  readonly broken: BrokenContainer | null;
}

export async function readFile(path: string, options: FileOptions = {}): Promise<Reading> {
  const messages: Message[] = [];
  try {
    for await (const batch of openFileSource(path, options).batches(new AbortController().signal))
      messages.push(...batch);
  } catch (error) {
    if (error instanceof BrokenContainer) return { messages, broken: error };
    throw error;
  }
  return { messages, broken: null };
}

export async function readContent(content: string | Uint8Array, options: FileOptions = {}): Promise<Reading> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-feed-'));
  try {
    const path = join(directory, 'feed');
    writeFileSync(path, content);
    return await readFile(path, options);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Messages as `offset:text`, `offset:null` for null values. */
export function outline({ messages }: Reading): string[] {
  return messages.map(({ offset, bytes }) => `${offset}:${bytes === null ? 'null' : Buffer.from(bytes).toString()}`);
}
