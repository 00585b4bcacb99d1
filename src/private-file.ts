import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { isMachineError } from './machine-errors.ts';

/** SQLite creates these files beside a database, with the mode of the database. */
const BESIDE_DATABASE = ['-wal', '-shm', '-journal'];

/** Gives a database mode 0600, whatever the umask and the directory's mode; creates an empty file where there is none. */
export function makeDatabasePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  closeToOthers(file);
  for (const suffix of BESIDE_DATABASE) closeToOthers(`${file}${suffix}`);
}

/** Where the file is not ours, its mode is its owner's decision. */
export function closeToOthers(file: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & 0o077) === 0) return;
  try {
    chmodSync(file, 0o600);
  } catch (error) {
    if (!isMachineError(error, 'unwritable')) throw error;
  }
}
