import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { openFileSource } from '../../../src/feed/file/file-source.ts';
import { Refusal } from '../../../src/refusal.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';

const directory = temporaryDirectory();
const LINE = `${JSON.stringify({ text: 'x'.repeat(1000) })}\n`;
const LINES = 100_000;

afterAll(() => directory[Symbol.dispose]());

describe('openFileSource', () => {
  it.each([
    [directory.at('missing'), 'does not exist'],
    [directory.at('missing/further'), 'does not exist'],
    [directory.path, 'is a directory'],
  ])('refuses %s at once and says why', (path, reason) => {
    expect(() => openFileSource(path)).toThrow(Refusal);
    expect(() => openFileSource(path)).toThrow(`feed file ${path} ${reason}`);
  });

  it('says how much of a file was read', async () => {
    const path = directory.at('progress');
    writeFileSync(path, LINE.repeat(10));
    const source = openFileSource(path, { chunkBytes: 3000 });
    expect(source).toMatchObject({ name: path });
    const reads: number[] = [];
    for await (const _batch of source.batches(new AbortController().signal)) reads.push(source.progress().read);
    expect(source.progress()).toEqual({ read: LINE.length * 10, total: LINE.length * 10 });
    expect(reads).toEqual(reads.toSorted((a, b) => a - b));
    expect(reads.length).toBeGreaterThan(2);
  });

  it('ends without an error when it is aborted, and without the line that was cut', async () => {
    const path = directory.at('aborted');
    writeFileSync(path, LINE.repeat(5000));
    const controller = new AbortController();
    let count = 0;
    for await (const batch of openFileSource(path, { chunkBytes: 10_000 }).batches(controller.signal)) {
      for (const { bytes } of batch) expect(bytes).toHaveLength(LINE.length - 1);
      count += batch.length;
      controller.abort();
    }
    expect(count).toBe(9);
  });

  it('ends at once when it is aborted, however much a few compressed bytes would still give', async () => {
    const path = directory.at('aborted.zst');
    writeFileSync(path, zstdCompressSync(LINE.repeat(LINES)));
    const controller = new AbortController();
    let batches = 0;
    for await (const _batch of openFileSource(path).batches(controller.signal)) {
      batches += 1;
      controller.abort();
    }
    expect(batches).toBe(1);
  });

  it('hands over messages that stay as they are while later ones are read', async () => {
    const path = directory.at('kept');
    const lines = Array.from({ length: 5000 }, (_, i) => JSON.stringify({ i }));
    writeFileSync(path, lines.join('\n'));
    const kept: Uint8Array[] = [];
    for await (const batch of openFileSource(path, { chunkBytes: 4096 }).batches(new AbortController().signal)) {
      for (const { bytes } of batch) kept.push(bytes!);
    }
    expect(kept.map((bytes) => Buffer.from(bytes).toString())).toEqual(lines);
  });

  const lengths = [1, 50, 999, 1000, 1001, 2500, 3999, 12_000];
  const lines = Array.from({ length: 200 }, (_, i) => JSON.stringify({ i, text: 'x'.repeat(lengths[i % 8]!) }));
  const text = lines.join('\n');

  it.each([
    ['lines', text],
    ['gzip', gzipSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['a page', `{"transactions":[${lines.join(',')}]}`],
    ['an array', `[${lines.join(',')}]`],
  ])('reads the same from reused buffers: %s', async (name, content) => {
    const path = directory.at(`reused ${name}`);
    writeFileSync(path, content);
    const source = openFileSource(path, { chunkBytes: 1000, reuseBuffers: true });
    const read: string[] = [];
    for await (const batch of source.batches(new AbortController().signal))
      for (const { bytes } of batch) read.push(Buffer.from(bytes!).toString());
    expect(read).toEqual(lines);
  });

  it('takes no new buffer for each read where they are reused', async () => {
    const path = directory.at('few');
    writeFileSync(path, LINE.repeat(5000));
    const buffers = new Set<ArrayBufferLike>();
    for await (const batch of openFileSource(path, { reuseBuffers: true }).batches(new AbortController().signal))
      buffers.add(batch.at(-1)!.bytes!.buffer);
    expect(buffers.size).toBe(3);
  });
});

describe('a named pipe', () => {
  const linesOf = async (path: string): Promise<string[]> => {
    const lines: string[] = [];
    for await (const batch of openFileSource(path).batches(new AbortController().signal))
      for (const { bytes } of batch) lines.push(Buffer.from(bytes!).toString());
    return lines;
  };

  it('is waited for until it has a writer, and ends with it', async () => {
    const path = directory.namedPipe('late');
    const reading = linesOf(path);
    await sleep(50);
    const writer = await open(path, 'w');
    await writer.write('{"a":1}\n{"b"');
    await sleep(50);
    await writer.write(':2}');
    await writer.close();
    expect(await reading).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('is empty where its writer writes nothing', async () => {
    const path = directory.namedPipe('empty');
    const reading = linesOf(path);
    await sleep(50);
    await (await open(path, 'w')).close();
    expect(await reading).toEqual([]);
  });
});

describe('standard input', () => {
  const script = `
    const { openFileSource } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/feed/file/file-source.ts'))});
    for await (const batch of openFileSource('-').batches(new AbortController().signal)) {
      for (const { offset, bytes } of batch) console.log(offset + ':' + Buffer.from(bytes).toString());
    }`;

  it('hands over each line as it arrives', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    child.stdin.write('{"a":1}\n{"b"');
    while (!output.includes('\n')) await once(child.stdout, 'data');
    expect(output).toBe('1:{"a":1}\n');
    child.stdin.end(':2}');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(output).toBe('1:{"a":1}\n2:{"b":2}\n');
  });
});
