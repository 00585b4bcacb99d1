import { createHash, type Hash, hash } from 'node:crypto';
import { Refusal } from '../../refusal.ts';
import { BrokenContainer, type Message } from '../source.ts';
import { bomLength, containerElements, isBlank } from './elements.ts';

/** The one lane of a file; its resume token is the number of the next line or element. */
export const FILE_LANE = 'file';

export interface MessageLimits {
  readonly lineBytesMax: number;
  readonly overlongHeadBytes: number;
  readonly containerBytesMax: number;
}

const [LF, CR, BRACE_OPEN] = [0x0a, 0x0d, 0x7b];
const NULL = Buffer.from('null');
const MIB = 2 ** 20;
/** Of elements; of lines, one comes for each chunk. */
const BATCH_BYTES = MIB;

/** One message for each line that is not blank, numbered from 1 with the blank ones; one batch for each chunk. */
export async function* lineBatches(
  chunks: AsyncGenerator<Buffer>,
  limits: MessageLimits,
): AsyncGenerator<readonly Message[]> {
  let number = 0;
  let open = new OpenLine(limits);
  for await (const chunk of chunks) {
    const batch: Message[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      number++;
      let message: Message | null;
      if (open.isEmpty() && end - start < limits.lineBytesMax) {
        message = lineMessage(number, chunk, start, end);
      } else {
        open.add(chunk.subarray(start, end));
        message = open.message(number);
        open = new OpenLine(limits);
      }
      if (message !== null) batch.push(message);
      start = end + 1;
    }
    open.add(chunk.subarray(start));
    if (batch.length > 0) yield batch;
  }
  const last = open.message(number + 1);
  if (last !== null) yield [last];
}

/** Null for a blank line. The first one may begin with a byte order mark. */
function lineMessage(number: number, bytes: Buffer, lineStart: number, lineEnd: number): Message | null {
  const end = lineEnd > lineStart && bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
  const start = number === 1 ? lineStart + bomLength(bytes.subarray(lineStart, end)) : lineStart;
  const line = bytes.subarray(start, end);
  return line[0] !== BRACE_OPEN && line.every(isBlank) ? null : message(number, line);
}

function message(offset: number, bytes: Buffer): Message {
  return { lane: FILE_LANE, offset, bytes: bytes.equals(NULL) ? null : bytes };
}

/** A line that was read in part so far. Of one above the limit only the head, the length and the hash are kept. */
class OpenLine {
  readonly #limits: MessageLimits;
  #parts: Buffer[] = [];
  #length = 0;
  #hash: Hash | null = null;
  /** Whether what was read ends with a carriage return: part of the line only if more of it follows. */
  #heldCr = false;

  constructor(limits: MessageLimits) {
    this.#limits = limits;
  }

  isEmpty(): boolean {
    return this.#length === 0;
  }

  add(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#hash !== null) return this.#update(part);
    // A copy, because the chunk that it is part of is valid only until the next one is requested.
    this.#parts.push(Buffer.from(part));
    // The carriage return of a line end is not part of the line.
    if (this.#length <= this.#limits.lineBytesMax + 1) return;
    const whole = Buffer.concat(this.#parts);
    this.#hash = createHash('sha256');
    this.#parts = [Buffer.from(whole.subarray(0, this.#limits.overlongHeadBytes))];
    this.#update(whole);
  }

  #update(part: Buffer): void {
    if (this.#heldCr) this.#hash?.update('\r');
    this.#heldCr = part.at(-1) === CR;
    this.#hash?.update(this.#heldCr ? part.subarray(0, -1) : part);
  }

  /** Null for a blank line. */
  message(number: number): Message | null {
    const whole = Buffer.concat(this.#parts);
    if (this.#hash === null) {
      const message = lineMessage(number, whole, 0, whole.length);
      const isOverlong = (message?.bytes?.length ?? 0) > this.#limits.lineBytesMax;
      return isOverlong
        ? overlong(number, whole, { length: whole.length, sha256: hash('sha256', whole) }, this.#limits)
        : message;
    }
    const length = this.#heldCr ? this.#length - 1 : this.#length;
    return overlong(number, whole, { length, sha256: this.#hash.digest('hex') }, this.#limits);
  }
}

function overlong(
  offset: number,
  bytes: Buffer,
  facts: NonNullable<Message['overlong']>,
  { overlongHeadBytes }: MessageLimits,
): Message {
  return { lane: FILE_LANE, offset, bytes: bytes.subarray(0, overlongHeadBytes), overlong: facts };
}

/**
 * One message for each element of an array or page, numbered from 1. All of it is read before the first one is
 * returned, so that nothing of a file that is too large is applied. Throws BrokenContainer after the last element before the break.
 */
export async function* containerBatches(
  chunks: AsyncGenerator<Buffer>,
  { path, shape, ...limits }: MessageLimits & { readonly path: string; readonly shape: 'array' | 'page' },
): AsyncGenerator<readonly Message[]> {
  const parts: Buffer[] = [];
  let broken: unknown = null;
  let length = 0;
  try {
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length > limits.containerBytesMax) throw tooLarge(path, shape, limits.containerBytesMax);
      // A copy, because a chunk is valid only until the next one is requested.
      parts.push(Buffer.from(chunk));
    }
  } catch (error) {
    // What comes before a break in the compression is still used.
    if (!(error instanceof BrokenContainer)) throw error;
    broken = error;
  }
  let batch: Message[] = [];
  let batchBytes = 0;
  try {
    for (const { number, bytes } of containerElements(Buffer.concat(parts), shape)) {
      const { length } = bytes;
      batch.push(
        length > limits.lineBytesMax
          ? overlong(number, bytes, { length, sha256: hash('sha256', bytes) }, limits)
          : message(number, bytes),
      );
      batchBytes += length;
      if (batchBytes < BATCH_BYTES) continue;
      yield batch;
      [batch, batchBytes] = [[], 0];
    }
  } catch (error) {
    broken ??= error;
  }
  if (batch.length > 0) yield batch;
  if (broken !== null) throw broken;
}

function tooLarge(path: string, shape: 'array' | 'page', bytesMax: number): Refusal {
  const [what, filter] = shape === 'array' ? ['JSON array', '.[]'] : ['Scan page', '.transactions[]'];
  const size = bytesMax >= MIB ? `${bytesMax / MIB} MiB` : `${bytesMax} bytes`;
  return new Refusal(
    `feed file ${path} is a ${what} of more than ${size}; convert it to one update per line: jq -c '${filter}'`,
  );
}
