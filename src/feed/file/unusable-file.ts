import { accessSync, constants, statSync } from 'node:fs';
import { isMachineError } from '../../machine-errors.ts';
import { Refusal } from '../../refusal.ts';

/** A feed file that cannot be a source at all: the command line says so in one line and exits with 2. */
export class UnusableFile extends Refusal {
  readonly path: string;

  constructor(path: string, reason: string, cause?: unknown) {
    super(`feed file ${path} ${reason}`, { cause });
    this.name = 'UnusableFile';
    this.path = path;
  }
}

/** The size of a regular file, null for what has none, such as a pipe or standard input (`-`). Throws UnusableFile. */
export function readableSize(path: string): number | null {
  if (path === '-') return null;
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw new UnusableFile(path, 'is a directory; name the feed files in it');
    accessSync(path, constants.R_OK);
    return stat.isFile() ? stat.size : null;
  } catch (error) {
    if (error instanceof UnusableFile) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new UnusableFile(path, 'does not exist', error);
    if (isMachineError(error, 'outOfFiles')) throw error;
    throw new UnusableFile(path, `cannot be read (${code ?? String(error)})`, error);
  }
}
