import type { Database } from 'better-sqlite3';
import type { FaultCode } from '../../ledger/bad-update.ts';
import type { Micros } from '../../ledger/time.ts';
import { openForReading } from './database.ts';
import { parseColumn } from './stored-rows.ts';

export type DeadLetterKind = 'update' | 'overlong' | 'container' | 'ahead' | 'gap' | 'overtaken';
/** What can be wrong with a message, or with its container or the update before it. */
export type DeadLetterCode = FaultCode | 'create_left_out' | 'broken_container';

const KINDS: Readonly<Partial<Record<DeadLetterCode, DeadLetterKind>>> = {
  overlong: 'overlong',
  broken_batch: 'container',
  broken_container: 'container',
  ahead_of_clock: 'ahead',
  record_time_gap: 'gap',
  overtaken: 'overtaken',
};

/** A dead letter's kind, by what is wrong with the message. */
export function kindOf(code: DeadLetterCode): DeadLetterKind {
  return KINDS[code] ?? 'update';
}

/** `halted` waits for the operator; `resolved` is a halt that ended without a decision about its bytes. */
export const DECISIONS = ['halted', 'dropped', 'quarantined', 'applied', 'resolved'] as const;
export type Decision = (typeof DECISIONS)[number];

/** A message that could not be applied: where it came from, why, its bytes, and the decision (docs/rules.md, bad updates): see views-schema.ts. */
export interface DeadLetter {
  readonly id: number;
  readonly kind: DeadLetterKind;
  readonly code: DeadLetterCode;
  readonly decision: Decision;
  readonly source: string;
  readonly sourceKind: string;
  readonly lane: string;
  readonly offset: number;
  readonly resumeToken: string | null;
  readonly location: string;
  readonly migrationId: number | null;
  readonly updateId: string | null;
  readonly recordTime: Micros | null;
  readonly field: string | null;
  readonly given: string | null;
  readonly expected: string | null;
  readonly reason: string;
  /** Of the whole message; empty for a container. */
  readonly sha256: Buffer;
  /** The whole message's length in bytes; of an over-long one `bytes` is only the start. */
  readonly length: number;
  readonly bytes: Buffer;
  readonly createdAt: Micros;
}

export type DeadLetterFacts = Omit<DeadLetter, 'sha256' | 'length' | 'bytes' | 'createdAt'>;

export const DEAD_LETTER_FACTS = `id, kind, code, decision, source, source_kind AS sourceKind, lane, offset,
  cursor AS resumeToken, place AS location, migration_id AS migrationId, update_id AS updateId,
  record_time AS recordTime, field, given, expected, reason`;
export const DEAD_LETTER_COLUMNS = `${DEAD_LETTER_FACTS}, sha256, length, bytes, created_at AS createdAt`;

/** How many dead letters are searched for the reason of an unknown contract: only a help, which must not make a bad feed slow. */
const LEFT_OUT_SEARCHED = 64;
const LEFT_OUT_BYTES_MAX = 65_536;

/** Dead letters as the writer needs them; every change is part of the caller's transaction. */
export class DeadLetters {
  readonly #halted;
  readonly #decided;
  readonly #insert;
  readonly #newestQuarantined;
  readonly #decide;
  readonly #leftOut;
  /** Lengths of messages with a decision: only a message of such a length need be hashed. */
  readonly #decidedLengths: Set<number>;

  constructor(db: Database) {
    this.#halted = db.prepare<[], DeadLetter>(
      `SELECT ${DEAD_LETTER_COLUMNS} FROM dead_letter WHERE decision = 'halted' ORDER BY id LIMIT 1`,
    );
    this.#decided = db
      .prepare<[Buffer], number>(
        `SELECT 1 FROM dead_letter WHERE sha256 = ? AND decision IN ('dropped', 'quarantined') AND kind <> 'container'`,
      )
      .pluck();
    // SQLite numbers it.
    this.#insert = db.prepare<[Omit<DeadLetter, 'id'>]>(
      `INSERT INTO dead_letter VALUES (NULL, @kind, @code, @decision, @source, @sourceKind, @lane, @offset, @resumeToken, @location,
         @migrationId, @updateId, @recordTime, @field, @given, @expected, @reason, @sha256, @length, @bytes, @createdAt)`,
    );
    this.#newestQuarantined = db.prepare<[], DeadLetterFacts>(
      `SELECT ${DEAD_LETTER_FACTS} FROM dead_letter WHERE decision = 'quarantined' ORDER BY id DESC LIMIT 1`,
    );
    this.#decide = db.prepare('UPDATE dead_letter SET decision = ? WHERE id = ?');
    this.#leftOut = db
      .prepare<[string], number>(
        `SELECT id FROM (SELECT id, bytes FROM dead_letter
           WHERE decision IN ('dropped', 'quarantined') AND length <= ${LEFT_OUT_BYTES_MAX} ORDER BY id DESC LIMIT ${LEFT_OUT_SEARCHED}) WHERE instr(bytes, CAST(? AS BLOB)) > 0 ORDER BY id LIMIT 1`,
      )
      .pluck();
    const lengths = db.prepare<[], number>(
      `SELECT DISTINCT length FROM dead_letter WHERE decision IN ('dropped', 'quarantined') AND kind <> 'container'`,
    );
    this.#decidedLengths = new Set(lengths.pluck().all());
  }

  /** The halt that is not resolved, if there is one. */
  halted(): DeadLetter | null {
    const halted = this.#halted.get() ?? null;
    // Other threads show its location: one that cannot be parsed ends the writer, which says what to do.
    if (halted !== null) parseColumn('dead_letter.place', halted.location, JSON.parse);
    return halted;
  }

  get anyDecided(): boolean {
    return this.#decidedLengths.size > 0;
  }

  /** Whether there is one about a message of that length, null for one without bytes; nearly always the hash is not needed. */
  isDecided(length: number | null, sha256: () => Buffer): boolean {
    return length !== null && this.#decidedLengths.has(length) && this.#decided.get(sha256()) === 1;
  }

  /** Of the newest dead letters, the first whose message was left out and names that contract. */
  leftOut(contractId: string): number | null {
    return this.#leftOut.get(JSON.stringify(contractId)) ?? null;
  }

  newestQuarantined(): DeadLetterFacts | null {
    return this.#newestQuarantined.get() ?? null;
  }

  insert(deadLetter: Omit<DeadLetter, 'id'>): number {
    if (deadLetter.decision === 'quarantined') this.#decidedLengths.add(deadLetter.length);
    return Number(this.#insert.run(deadLetter).lastInsertRowid);
  }

  decide({ id, length }: DeadLetter, decision: Decision): void {
    this.#decide.run(decision, id);
    if (decision === 'dropped') this.#decidedLengths.add(length);
  }
}

/**
 * Returns the function that counts dead letters by decision. Only a halted one can change, and there is at most one; so the
 * others are read only once: there may be millions, and their number is needed several times a second.
 */
export function createDeadLetterCounter(db: Database): () => Readonly<Record<string, number>> {
  const since = db.prepare<[number], { decision: Decision; count: number; last: number }>(
    'SELECT decision, count(*) AS count, max(id) AS last FROM dead_letter WHERE id > ? GROUP BY decision',
  );
  const decisionOf = db.prepare<[number | null], Decision>('SELECT decision FROM dead_letter WHERE id = ?').pluck();
  const decided: Record<string, number> = {};
  let counted = 0;
  let halted: number | null = null;
  return () => {
    const [rows, decision] = [since.all(counted), decisionOf.get(halted)];
    if (decision !== undefined && decision !== 'halted') {
      decided[decision] = (decided[decision] ?? 0) + 1;
      halted = null;
    }
    for (const { decision, count, last } of rows) {
      counted = Math.max(counted, last);
      if (decision === 'halted') halted = last;
      else decided[decision] = (decided[decision] ?? 0) + count;
    }
    return halted === null ? { ...decided } : { ...decided, halted: 1 };
  };
}

/** Reads dead letters, also while a service runs. Throws a Refusal where the directory has no views. */
export function openDeadLetters(dataDir: string) {
  const db = openForReading(dataDir);
  const listed = db.prepare<[], Omit<DeadLetter, 'bytes'>>(
    `SELECT ${DEAD_LETTER_COLUMNS.replace(', bytes', '')} FROM dead_letter ORDER BY id`,
  );
  const one = db.prepare<[number], DeadLetter>(`SELECT ${DEAD_LETTER_COLUMNS} FROM dead_letter WHERE id = ?`);
  return {
    /** In the order they were stored; the bytes are not read. */
    list: () => listed.all(),
    find: (id: number) => one.get(id) ?? null,
    [Symbol.dispose]: () => void db.close(),
  };
}
