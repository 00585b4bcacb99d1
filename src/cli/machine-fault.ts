import { Refusal } from '../refusal.ts';

/** What the machine did, by the words of SQLite and of the system: an error that crossed a thread keeps nothing else. */
const FAULTS: readonly (readonly [says: RegExp, means: string])[] = [
  [/database or disk is full|ENOSPC|EDQUOT/, 'the disk is full: make room and run it again, nothing is half written'],
  [/database is locked|database table is locked/, 'another program holds the database: let it end and run it again'],
  [
    /^users\.db: .*(malformed|file is not a database)/,
    'the users are damaged: restore a backup of them, for nothing else holds what they hold',
  ],
  [
    /malformed|file is not a database/,
    'a database there is damaged: `holdfast verify` names what; restore a backup, or run `holdfast rebuild --yes`, which keeps the users, and replay the feed',
  ],
  [
    /readonly database|unable to open database file|EROFS|EACCES|EPERM/,
    'it cannot be written to: see its owner and mode, and how it is mounted',
  ],
  [
    /EFBIG/,
    'a file may not grow as large as it must: raise the limit (ulimit -f), or use a file system that takes it, and run it again; nothing is half written',
  ],
  // SQLite says no more where a file does not grow, as on a full disk that of the memory that its readers share.
  [
    /disk I\/O error|EIO/,
    'the disk cannot be read or written: it may be full, or a limit of file size was met (ulimit -f): make room or raise it and run it again; else see the log of the system',
  ],
  [/EMFILE|ENFILE|too many open files/, 'too many files are open: raise the limit (ulimit -n)'],
];

/** A fault of the machine as an error that says what to do about it; any other error as it is. */
export function explainMachineFault(error: unknown, dataDir: string): unknown {
  if (error instanceof Refusal || !(error instanceof Error)) return error;
  const means = FAULTS.find(([says]) => says.test(error.message))?.[1];
  if (means === undefined) return error;
  // Of a copy, it is where it goes to that matters.
  const { path, dest = path } = error as NodeJS.ErrnoException & { readonly dest?: string };
  return new Error(`${dest ?? `--data ${dataDir}`}: ${means} (${error.message})`, { cause: error });
}

/** Whether a fault may pass by itself: a full disk, a lock. Told by the words, since an error of a thread keeps nothing else. */
export function isPassingFault(error: unknown): error is Error {
  if (error instanceof Refusal || !(error instanceof Error)) return false;
  return /database or disk is full|ENOSPC|EDQUOT|EFBIG|database (table )?is locked|disk I\/O error/.test(error.message);
}
