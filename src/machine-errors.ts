import { Refusal } from './refusal.ts';

interface Meaning {
  /** Of SQLite, where an extended code goes before the one that it extends, and of the system. */
  readonly codes: readonly string[];
  /**
   * Whether it may pass without us. `running`: where it worked before, as on a file system that is mounted read-only for a while;
   * at the start it is told at once.
   */
  readonly passes: 'always' | 'running' | 'never';
  /** What a command that ended with it tells the operator to do. */
  readonly advice: string;
}

/** The code of an error about a users.db that is damaged. */
export const USERS_DAMAGED = 'HOLDFAST_USERS_DAMAGED';

const DISK_FAILS =
  'the disk cannot be read or written: it may be full, or a limit of file size was met (ulimit -f): make room or raise it and run it again; else see the log of the system';
const DAMAGED =
  'a database there is damaged: `holdfast verify` names what; restore a backup, or run `holdfast rebuild --yes`, which keeps the users, and replay the feed';

/** What may go wrong with the machine that we run on, whoever notices it. Any other error is not the machine's. */
const MEANINGS = {
  full: {
    codes: ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'],
    passes: 'always',
    advice: 'the disk is full: make room and run it again, nothing is half written',
  },
  tooLarge: {
    codes: ['EFBIG'],
    passes: 'always',
    advice:
      'a file may not grow as large as it must: raise the limit (ulimit -f), or use a file system that takes it, and run it again; nothing is half written',
  },
  failing: { codes: ['SQLITE_IOERR', 'EIO'], passes: 'always', advice: DISK_FAILS },
  failingToWrite: {
    codes: ['SQLITE_IOERR_WRITE', 'SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_TRUNCATE'],
    passes: 'always',
    advice: DISK_FAILS,
  },
  locked: {
    codes: ['SQLITE_BUSY', 'SQLITE_LOCKED'],
    passes: 'always',
    advice: 'another program holds the database: let it end and run it again',
  },
  unwritable: {
    codes: ['SQLITE_READONLY', 'SQLITE_CANTOPEN', 'EROFS', 'EACCES', 'EPERM'],
    passes: 'running',
    advice: 'it cannot be written to: see its owner and mode, and how it is mounted',
  },
  outOfFiles: {
    codes: ['EMFILE', 'ENFILE'],
    passes: 'running',
    advice: 'too many files are open: raise the limit (ulimit -n)',
  },
  // A file that ends where a page should be is damaged, too.
  damaged: { codes: ['SQLITE_CORRUPT', 'SQLITE_IOERR_SHORT_READ'], passes: 'never', advice: DAMAGED },
  noDatabase: { codes: ['SQLITE_NOTADB'], passes: 'never', advice: DAMAGED },
  usersDamaged: {
    codes: [USERS_DAMAGED],
    passes: 'never',
    advice: 'the users are damaged: restore a backup of them, for nothing else holds what they hold',
  },
} as const satisfies Record<string, Meaning>;

export type MachineError = keyof typeof MEANINGS;

const BY_CODE: ReadonlyMap<string, MachineError> = new Map(
  (Object.keys(MEANINGS) as MachineError[]).flatMap((kind) =>
    MEANINGS[kind].codes.map((code) => [code, kind] as const),
  ),
);

/** Of a thread that it cannot start, Node tells what the system said in words only, under these codes of its own. */
const NODE_CODES = ['ERR_WORKER_INIT_FAILED', 'ERR_INVALID_PACKAGE_CONFIG'];
const NODE_OUT_OF_FILES = /: (EMFILE|ENFILE|too many open files\.|file table overflow\.)$/;

/** What an error, or what caused it, means; null for what is no fault of the machine, as a Refusal never is. */
export function machineError(error: unknown): MachineError | null {
  if (!(error instanceof Error) || error instanceof Refusal) return null;
  return ofCode(error) ?? machineError(error.cause);
}

function ofCode({ code, message }: Error & { readonly code?: unknown }): MachineError | undefined {
  if (typeof code !== 'string') return undefined;
  if (NODE_CODES.includes(code) && NODE_OUT_OF_FILES.test(message)) return 'outOfFiles';
  return BY_CODE.get(code) ?? BY_CODE.get(code.split('_', 2).join('_'));
}

export function isMachineError(error: unknown, ...kinds: readonly MachineError[]): boolean {
  const kind = machineError(error);
  return kind !== null && kinds.includes(kind);
}

/** Whether the bytes of a database make no sense. */
export function isDamaged(error: unknown): boolean {
  return isMachineError(error, 'damaged', 'noDatabase');
}

/** Whether there is no room, or none that can be written: what is not needed is done without. */
export function isDiskError(error: unknown): boolean {
  return isMachineError(error, 'full', 'tooLarge', 'failing', 'failingToWrite');
}

/** Whether trying again may help, with nothing done about it here. */
export function mayPass(error: unknown, when: 'starting' | 'running'): error is Error {
  const kind = machineError(error);
  if (kind === null) return false;
  const { passes } = MEANINGS[kind];
  return passes === 'always' || (passes === 'running' && when === 'running');
}

/** What the operator may do about it; null for what is no fault of the machine. */
export function machineAdvice(error: unknown): string | null {
  const kind = machineError(error);
  return kind && MEANINGS[kind].advice;
}

/** The words of an error. Where a file does not grow, SQLite says of a full disk only that it could not write. */
export function explained(error: Error): string {
  const isVague = isMachineError(error, 'failing', 'failingToWrite');
  return isVague ? `${error.message}: the disk may be full, or a limit of file size met` : error.message;
}
