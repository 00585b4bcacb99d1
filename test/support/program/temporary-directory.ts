import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory that goes with its owner. */
export interface TemporaryDirectory extends Disposable {
  readonly path: string;
  /** The path of a file or folder in it, which need not be there. */
  at(name: string): string;
  /** Writes a feed file, one line each, and gives its path. */
  writeLines(name: string, lines: readonly (string | Buffer)[]): string;
  /** Makes a named pipe and gives its path. */
  namedPipe(name: string): string;
}

export function temporaryDirectory(): TemporaryDirectory {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  const at = (name: string): string => join(path, name);
  return {
    path,
    at,
    writeLines(name, lines) {
      writeFileSync(at(name), Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')])));
      return at(name);
    },
    namedPipe(name) {
      execFileSync('mkfifo', [at(name)]);
      return at(name);
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
