import { fstatSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { isDiskError } from '../machine-errors.ts';

const STANDARD_ERROR = 2;

/**
 * The stream for logs. On a full disk a log file loses lines until there is room again, and the service continues: Node's own
 * stream to a file would be closed by the first line that fails. For anything but a file it is Node's own.
 */
export function openStandardError(own: NodeJS.WriteStream): Writable {
  return fstatSync(STANDARD_ERROR).isFile() ? fileStream(STANDARD_ERROR) : own;
}

function fileStream(fd: number): Writable {
  // A line that was written in part must not join the next one.
  let isCut = false;
  return new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      const bytes = isCut ? Buffer.concat([Buffer.from('\n'), chunk]) : chunk;
      try {
        const written = writeSync(fd, bytes);
        isCut = written < bytes.length && (isCut || written > 0);
      } catch (error) {
        if (!isDiskError(error)) return done(error as Error);
      }
      done();
    },
  });
}
