import { createHash, type Hash } from 'node:crypto';
import type { Message } from '../source.ts';
import { bomLength, isBlank } from './shape.ts';

/** The one lane of a file; its cursor is the number of the next line or element. */
export const FILE_LANE = 'file';

export interface LineLimits {
  readonly lineBytesMax: number;
  readonly overlongHeadBytes: number;
}

const [LF, CR] = [0x0a, 0x0d];
const NULL_LINE = Buffer.from('null');

/** One message for each line that is not blank, numbered from 1 with the blank ones; one batch for each chunk. */
export async function* lineBatches(
  chunks: AsyncGenerator<Buffer>,
  limits: LineLimits,
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
    if (start < chunk.length) open.add(chunk.subarray(start));
    if (batch.length > 0) yield batch;
  }
  const last = open.isEmpty() ? null : open.message(number + 1);
  if (last !== null) yield [last];
}

/** Null for a blank line. The first one may begin with a byte order mark. */
function lineMessage(number: number, bytes: Buffer, lineStart: number, lineEnd: number): Message | null {
  const end = lineEnd > lineStart && bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
  const start = number === 1 ? lineStart + bomLength(bytes.subarray(lineStart, end)) : lineStart;
  if (start === end || (isBlank(bytes[start]!) && isBlankLine(bytes, start, end))) return null;
  const line = bytes.subarray(start, end);
  return { lane: FILE_LANE, offset: number, bytes: line.equals(NULL_LINE) ? null : line };
}

function isBlankLine(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (!isBlank(bytes[i]!)) return false;
  return true;
}

/** A line that was read in part so far. Of one above the limit only the head, the length and the hash are kept. */
class OpenLine {
  readonly #limits: LineLimits;
  #parts: Buffer[] = [];
  #length = 0;
  #hash: Hash | null = null;
  /** Whether what was read ends with a carriage return: part of the line only if more of it follows. */
  #heldCr = false;

  constructor(limits: LineLimits) {
    this.#limits = limits;
  }

  isEmpty(): boolean {
    return this.#length === 0;
  }

  add(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#hash === null) {
      // A copy, because the chunk that it is part of is valid only until the next one is requested.
      this.#parts.push(Buffer.from(part));
      // The carriage return of a line end is not part of the line.
      if (this.#length <= this.#limits.lineBytesMax + 1) return;
      const whole = Buffer.concat(this.#parts);
      this.#hash = createHash('sha256');
      this.#parts = [Buffer.from(whole.subarray(0, this.#limits.overlongHeadBytes))];
      this.#update(whole);
    } else {
      this.#update(part);
    }
  }

  #update(part: Buffer): void {
    if (this.#heldCr) this.#hash?.update('\r');
    this.#heldCr = part.at(-1) === CR;
    this.#hash?.update(this.#heldCr ? part.subarray(0, -1) : part);
  }

  message(number: number): Message | null {
    const whole = Buffer.concat(this.#parts);
    if (this.#hash !== null) return this.#overlong(number, whole, this.#hash);
    const message = lineMessage(number, whole, 0, whole.length);
    if ((message?.bytes?.length ?? 0) <= this.#limits.lineBytesMax) return message;
    return this.#overlong(number, whole, createHash('sha256').update(whole));
  }

  #overlong(number: number, head: Buffer, hash: Hash): Message {
    const bytes = head.subarray(0, this.#limits.overlongHeadBytes);
    const length = this.#heldCr ? this.#length - 1 : this.#length;
    return { lane: FILE_LANE, offset: number, bytes, overlong: { length, sha256: hash.digest('hex') } };
  }
}
