import { hash } from 'node:crypto';
import { BrokenContainer, type Message } from '../source.ts';
import { containerElements } from './elements.ts';
import { FILE_LANE, type LineLimits } from './lines.ts';
import type { FileShape } from './shape.ts';
import { UnusableFile } from './unusable-file.ts';

export interface ContainerOptions extends LineLimits {
  readonly path: string;
  readonly shape: Exclude<FileShape, 'lines'>;
  readonly containerBytesMax: number;
}

const BATCH_BYTES = 2 ** 20;
const MIB = 2 ** 20;
const NULL_ELEMENT = Buffer.from('null');

/**
 * One message for each element of an array or page, numbered from 1. All of it is read before the first one is
 * returned, so that nothing of a file that is too large is applied. Throws BrokenContainer after the last element before the break.
 */
export async function* containerBatches(
  chunks: AsyncGenerator<Buffer>,
  options: ContainerOptions,
): AsyncGenerator<readonly Message[]> {
  const { content, broken } = await readAll(chunks, options);
  let batch: Message[] = [];
  let bytes = 0;
  try {
    for (const element of containerElements(content, options.shape)) {
      batch.push(elementMessage(element.number, element.bytes, options));
      bytes += element.bytes.length;
      if (bytes < BATCH_BYTES) continue;
      yield batch;
      batch = [];
      bytes = 0;
    }
  } catch (error) {
    if (batch.length > 0) yield batch;
    throw broken ?? error;
  }
  if (batch.length > 0) yield batch;
  if (broken !== null) throw broken;
}

/** What comes before a break in the compression is still used. */
async function readAll(
  chunks: AsyncGenerator<Buffer>,
  { path, shape, containerBytesMax }: ContainerOptions,
): Promise<{ content: Buffer; broken: BrokenContainer | null }> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length > containerBytesMax) throw tooLarge(path, shape, containerBytesMax);
      // A copy, because a chunk is valid only until the next one is requested.
      parts.push(Buffer.from(chunk));
    }
  } catch (error) {
    if (error instanceof BrokenContainer) return { content: Buffer.concat(parts), broken: error };
    throw error;
  }
  return { content: Buffer.concat(parts), broken: null };
}

/** A shape's name in messages, and the command that converts it to lines. */
const LARGE_SHAPES = {
  array: ['JSON array', '.[]'],
  page: ['Scan page', '.transactions[]'],
  objects: ['file of JSON objects printed over several lines', '.'],
} as const;

function tooLarge(path: string, shape: ContainerOptions['shape'], bytesMax: number): UnusableFile {
  const [what, filter] = LARGE_SHAPES[shape];
  const size = bytesMax >= MIB ? `${bytesMax / MIB} MiB` : `${bytesMax} bytes`;
  return new UnusableFile(
    path,
    `is a ${what} of more than ${size}; convert it to one update per line: jq -c '${filter}'`,
  );
}

function elementMessage(offset: number, bytes: Buffer, { lineBytesMax, overlongHeadBytes }: LineLimits): Message {
  if (bytes.length > lineBytesMax) {
    const overlong = { length: bytes.length, sha256: hash('sha256', bytes) };
    return { lane: FILE_LANE, offset, bytes: bytes.subarray(0, overlongHeadBytes), overlong };
  }
  return { lane: FILE_LANE, offset, bytes: bytes.equals(NULL_ELEMENT) ? null : bytes };
}
