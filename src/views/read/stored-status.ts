import { type BigIntStats, statSync } from 'node:fs';
import { mayPass } from '../../machine-errors.ts';
import { checkVersion, openForReading, viewsFile } from '../store/database.ts';
import { createDeadLetterCounter, DEAD_LETTER_FACTS, type DeadLetterFacts } from '../store/dead-letter-store.ts';

export interface StoredStatus {
  /** Null until one is named or seen; `pinned` where an operator named it. */
  readonly dso: { readonly party: string | null; readonly pinned: boolean };
  readonly tokens: TokenStatus;
  readonly deadLetters: Readonly<Record<string, number>>;
  readonly halted: DeadLetterFacts | null;
}

/** Whether tokens count, null until that is decided; and how many of their active holdings cannot be read. */
export interface TokenStatus {
  readonly tokens: 'on' | 'off' | null;
  readonly unreadable: number;
}

/** How long answers may still come from a file that was set aside or removed. */
const LOOK_MS = 1_000;

/** For a process that reads what another one writes. Throws a Refusal where there are no views of this program. */
export function openStoredStatus(dataDir: string) {
  const file = viewsFile(dataDir);
  // Read before the file is opened: one that replaces it in between must be noticed.
  const opened = identityOf(file);
  const db = openForReading(dataDir);
  const setting = db.prepare<[], TokenStatus & { party: string | null; pinned: number }>(
    `SELECT dso AS party, dso_pinned AS pinned, unreadable,
       CASE tokens WHEN 1 THEN 'on' WHEN 0 THEN 'off' END AS tokens FROM setting`,
  );
  // It is the newest one: after a halt nothing is read.
  const halted = db.prepare<[], DeadLetterFacts>(
    `SELECT ${DEAD_LETTER_FACTS} FROM dead_letter WHERE decision = 'halted' ORDER BY id DESC LIMIT 1`,
  );
  const countDeadLetters = createDeadLetterCounter(db);
  countDeadLetters();
  const read = db.transaction((): StoredStatus => {
    const { party, pinned, ...tokens } = setting.get()!;
    const deadLetters = countDeadLetters();
    const isHalted = deadLetters.halted !== undefined;
    const dso = { party, pinned: pinned === 1 };
    return { dso, tokens, deadLetters, halted: isHalted ? halted.get()! : null };
  });

  const { promise: replaced, reject } = Promise.withResolvers<never>();
  replaced.catch(() => {});
  function look(): void {
    try {
      if (identityOf(file) !== opened)
        throw new Error(`${file} was replaced or removed while it was read: start this process again`);
      checkVersion(db, file);
    } catch (error) {
      if (!mayPass(error, 'running')) reject(error);
    }
  }
  const looking = setInterval(look, LOOK_MS).unref();
  return {
    read: () => read(),
    /** Rejects once views.db is another file than the one opened, or has tables of another version. */
    replaced,
    [Symbol.dispose](): void {
      clearInterval(looking);
      db.close();
    },
  };
}

/** Identifies a file; null where there is none. No other file can get the same while this one is open. */
function identityOf(file: string): string | null {
  const stat: BigIntStats | undefined = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev} ${stat.ino}`;
}

/** What makes the order of a migration's updates depend on how they were read (docs/digest.md). */
export interface UpdateOrder {
  readonly migrationId: number;
  readonly synchronizers: number;
  /** Updates that were applied at the time of the one before them. */
  readonly repairs: number;
}

export function readUpdateOrder(dataDir: string): readonly UpdateOrder[] {
  const db = openForReading(dataDir);
  try {
    return db
      .prepare<[], UpdateOrder>(
        `SELECT migration_id AS migrationId, count(*) AS synchronizers, sum(repairs) AS repairs
         FROM synchronizer GROUP BY migration_id`,
      )
      .all();
  } finally {
    db.close();
  }
}
