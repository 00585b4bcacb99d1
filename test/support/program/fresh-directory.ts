import { afterEach, beforeEach } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

/** A directory that is another one in each test of the calling file. Not for tests that run at the same time. */
export function freshDirectory(): TemporaryDirectory {
  let current: TemporaryDirectory;
  beforeEach(() => {
    current = temporaryDirectory();
  });
  afterEach(() => current[Symbol.dispose]());
  return {
    get path() {
      return current.path;
    },
    at: (name) => current.at(name),
    writeLines: (name, lines) => current.writeLines(name, lines),
    namedPipe: (name) => current.namedPipe(name),
    [Symbol.dispose]: () => current[Symbol.dispose](),
  };
}
