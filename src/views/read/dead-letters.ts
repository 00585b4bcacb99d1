import { openForReading } from '../store/database.ts';
import { DEAD_LETTER_COLUMNS, type DeadLetter } from '../store/dead-letters.ts';

/** Reads dead letters, also while a service runs. */
export interface DeadLetterReader extends Disposable {
  /** In the order they were stored; the bytes are not read. */
  list(): readonly Omit<DeadLetter, 'bytes'>[];
  find(id: number): DeadLetter | null;
}

/** Throws a Refusal where the directory has no views. */
export function openDeadLetters(dataDir: string): DeadLetterReader {
  const db = openForReading(dataDir);
  const listed = db.prepare<[], Omit<DeadLetter, 'bytes'>>(
    `SELECT ${DEAD_LETTER_COLUMNS.replace(', bytes', '')} FROM dead_letter ORDER BY id`,
  );
  const one = db.prepare<[number], DeadLetter>(`SELECT ${DEAD_LETTER_COLUMNS} FROM dead_letter WHERE id = ?`);
  return {
    list: () => listed.all(),
    find: (id) => one.get(id) ?? null,
    [Symbol.dispose]: () => void db.close(),
  };
}
