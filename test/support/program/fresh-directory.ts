import { freshEach } from './fresh-each.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

/** A directory that is another one in each test of the calling file. */
export function freshDirectory(): TemporaryDirectory {
  return freshEach(temporaryDirectory);
}
