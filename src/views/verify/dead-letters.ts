import { createHash } from 'node:crypto';
import { identify } from '../../decode/identify.ts';
import { parseLedgerTime } from '../../ledger/time.ts';
import { DEAD_LETTER_COLUMNS, DEAD_LETTER_KINDS, DECISIONS } from '../store/dead-letters.ts';
import { type Differs, differsIn, inRanges, timeText, type VerifyContext, type VerifyStep } from './types.ts';

const SHA256_BYTES = 32;
/** The part of a long id that `identify` returns. */
const NAMED_CHARS_MAX = 300;

interface LetterRow {
  readonly id: bigint;
  readonly kind: string;
  readonly code: string;
  readonly decision: string;
  readonly updateId: string | null;
  readonly recordTime: bigint | null;
  readonly field: string | null;
  readonly given: string | null;
  readonly expected: string | null;
  readonly reason: string;
  readonly sha256: Buffer;
  readonly length: bigint;
  readonly bytes: Buffer;
  readonly createdAt: bigint;
}

/** A message may be 16 MiB, so few of them are read in one step. */
const LETTERS_PER_STEP = 200;

/** Compares each dead letter's facts with its bytes, and its reason with its parts; no number may be missing. */
export function* verifyLetters(context: VerifyContext): Generator<VerifyStep> {
  const { db } = context;
  const differs = differsIn(context, 'dead_letter');
  const halted = db.prepare<[], bigint>(`SELECT count(*) FROM dead_letter WHERE decision = 'halted'`).pluck().get()!;
  if (halted > 1n) differs('at most one that is halted', halted);
  const rows = db.prepare<[bigint, bigint], LetterRow>(
    `SELECT ${DEAD_LETTER_COLUMNS} FROM dead_letter WHERE id > ? AND id <= ? ORDER BY id`,
  );
  let next = 1n;
  const steps = { ...context, rowsPerStep: LETTERS_PER_STEP };
  yield* inRanges(steps, { table: 'dead_letter', key: 'id', phase: 'dead letters' }, (from, to) => {
    for (const letter of rows.iterate(from, to)) {
      verifyLetter(letter, next, (expected, found) => differs(`dead letter ${letter.id}: ${expected}`, found));
      next = letter.id + 1n;
    }
  });
}

function verifyLetter(letter: LetterRow, next: bigint, differs: Differs): void {
  const { id, kind, code, decision, sha256, length, bytes, createdAt } = letter;
  if (id !== next) differs(`numbers from 1 without gaps, next ${next}`, id);
  const kindOfCode = new Map<string, string>(Object.entries(DEAD_LETTER_KINDS)).get(code);
  if (kindOfCode === undefined) differs(`a code (${Object.keys(DEAD_LETTER_KINDS).join(', ')})`, code);
  else if (kind !== kindOfCode) differs(`kind ${kindOfCode}, that of its code ${code}`, kind);
  if (!DECISIONS.some((each) => each === decision)) differs(`a decision (${DECISIONS.join(', ')})`, decision);
  if (createdAt < 0n) differs('a time of our clock', timeText(createdAt));
  const reason = reasonOf(letter);
  // The reason of such an archive ends with the dead letter that explains it.
  const isSaid = code === 'create_left_out' ? letter.reason.startsWith(`${reason}; `) : letter.reason === reason;
  if (reason === null || !isSaid)
    differs(reason === null ? 'field, given and expected' : `reason ${reason}`, letter.reason);
  if (kind === 'container') {
    if (sha256.length + bytes.length + Number(length) > 0) differs('no bytes of a container', `${length} bytes`);
  } else if (kind === 'overlong') {
    if (length <= BigInt(bytes.length)) differs('a length beyond the bytes kept', length);
    if (sha256.length !== SHA256_BYTES) differs('a SHA-256', sha256.toString('hex'));
  } else {
    if (length !== BigInt(bytes.length)) differs(`length ${bytes.length}, that of its bytes`, length);
    const names = namesIn(letter);
    if (names !== null) differs(names, `${letter.updateId}, ${letter.recordTime}`);
    const hash = createHash('sha256').update(bytes).digest();
    if (!hash.equals(sha256)) differs(`sha256 ${hash.toString('hex')}, that of its bytes`, sha256.toString('hex'));
  }
}

/** The reason that follows from its parts; null where some are missing. A container has none, only a reason. */
function reasonOf({ kind, field, given, expected, reason }: LetterRow): string | null {
  if (kind === 'container') return field === null && given === null && expected === null ? reason : null;
  return field === null || given === null || expected === null
    ? null
    : `${field}: given ${given}, expected ${expected}`;
}

/** The message's own ids, where the dead letter has others; a message with fields of both formats is not checked. */
function namesIn({ bytes, updateId, recordTime }: LetterRow): string | null {
  if (bytes.includes('update_id') && bytes.includes('updateId')) return null;
  const named = identify(bytes);
  if (named.updateId === null) return updateId === null ? null : 'no update_id, as its bytes name none';
  const time = named.recordTime === null ? null : parseLedgerTime(named.recordTime);
  const isSame =
    // SQLite stores half of a surrogate pair as the replacement character.
    updateId?.slice(0, NAMED_CHARS_MAX).toWellFormed() === named.updateId.toWellFormed() &&
    (recordTime === null || (time !== null && BigInt(time) === recordTime));
  return isSame ? null : `update_id and record_time ${named.updateId}, ${time} of its bytes`;
}
