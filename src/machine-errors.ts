import { Refusal } from './refusal.ts';

interface Meaning {
  /** Codes of SQLite, where an extended code is listed before the one that it extends, and of the system. */
  readonly codes: readonly string[];
  /** Whether it may pass by itself. `running`: only where it worked before, such as a file system that is read-only for a while. */
  readonly passes: 'always' | 'running' | 'never';
  /** What the operator should do about a command that it ended. */
  readonly advice: string;
}

/** The code of an error about a value that views.db cannot have. */
export const VIEWS_DAMAGED = 'HOLDFAST_VIEWS_DAMAGED';
/** The code of an error about a damaged users.db. */
export const USERS_DAMAGED = 'HOLDFAST_USERS_DAMAGED';

const DISK_FAILS =
  'the disk cannot be read or written: it may be full, or a limit of file size was met (ulimit -f): ' +
  'make room or raise it and run it again; else see the log of the system';
const RESTORE = 'restore a backup, or move views.db away, which keeps the users, and replay the feed';

/** Every fault of the machine that we know, whichever part reports it. Any other error is not the machine's. */
const MEANINGS = {
  full: {
    codes: ['SQLITE_FULL', 'ENOSPC', 'EDQUOT', 'EFBIG'],
    passes: 'always',
    advice:
      'the disk is full, or a limit of file size was met (ulimit -f): ' +
      'make room or raise it and run it again, nothing is half written',
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
  // A file that is too short is damaged, too.
  damaged: {
    codes: ['SQLITE_CORRUPT', 'SQLITE_IOERR_SHORT_READ', 'SQLITE_NOTADB'],
    passes: 'never',
    advice: `a database there is damaged: \`holdfast verify\` names what; ${RESTORE}`,
  },
  // The error names the column.
  badValue: { codes: [VIEWS_DAMAGED], passes: 'never', advice: `a database there is damaged: ${RESTORE}` },
  usersDamaged: {
    codes: [USERS_DAMAGED],
    passes: 'never',
    advice: 'the users are damaged: restore a backup of them, because nothing else has their records',
  },
} as const satisfies Record<string, Meaning>;

export type MachineError = keyof typeof MEANINGS;

const BY_CODE: ReadonlyMap<string, MachineError> = new Map(
  (Object.keys(MEANINGS) as MachineError[]).flatMap((kind) =>
    MEANINGS[kind].codes.map((code) => [code, kind] as const),
  ),
);

/** Where a thread cannot be started, Node gives its own code, and the system's error only as words. */
const NODE_CODES = ['ERR_WORKER_INIT_FAILED', 'ERR_INVALID_PACKAGE_CONFIG'];
const NODE_OUT_OF_FILES = /: (EMFILE|ENFILE|too many open files\.|file table overflow\.)$/;

/** The fault that an error or its cause is; null where it is none of the machine's, as a Refusal never is. */
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

/** Whether a database is damaged. */
export function isDamaged(error: unknown): boolean {
  return isMachineError(error, 'damaged', 'badValue');
}

/** Whether nothing can be written: for writes that the program can do without. */
export function isDiskError(error: unknown): boolean {
  return isMachineError(error, 'full', 'failing', 'failingToWrite');
}

/** Whether trying again may help by itself. */
export function mayPass(error: unknown, when: 'starting' | 'running'): error is Error {
  const kind = machineError(error);
  if (kind === null) return false;
  const { passes } = MEANINGS[kind];
  return passes === 'always' || (passes === 'running' && when === 'running');
}

/** What the operator can do about it; null for what is no fault of the machine. */
export function machineAdvice(error: unknown): string | null {
  const kind = machineError(error);
  return kind && MEANINGS[kind].advice;
}

/** An error's message. For a full disk SQLite may only say that it could not write. */
export function explained(error: Error): string {
  const isVague = isMachineError(error, 'failing', 'failingToWrite');
  return isVague ? `${error.message}: the disk may be full, or a limit of file size met` : error.message;
}
