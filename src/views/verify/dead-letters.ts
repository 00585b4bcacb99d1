import { createHash } from 'node:crypto';
import { identify } from '../../decode/identify.ts';
import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import { parseLedgerTime } from '../../ledger/time.ts';
import { DEAD_LETTER_COLUMNS, DEAD_LETTER_KINDS, DECISIONS } from '../store/dead-letters.ts';
import { type Differs, differsIn, inRanges, timeText, type VerifyContext, type VerifyStep } from './types.ts';

const SHA256_BYTES = 32;
/** The part of a long id that `identify` returns. */
const NAMED_CHARS_MAX = 300;

interface DeadLetterRow {
  readonly id: bigint;
  readonly kind: string;
  readonly code: string;
  readonly decision: string;
  readonly offset: bigint;
  readonly cursor: string | null;
  readonly place: string;
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
const DEAD_LETTERS_PER_STEP = 200;

/** Compares each dead letter's facts with its bytes, and its reason with its parts; no number may be missing. */
export function* verifyDeadLetters(context: VerifyContext): Generator<VerifyStep> {
  const { db } = context;
  const differs = differsIn(context, 'dead_letter');
  const halted = db.prepare<[], bigint>(`SELECT count(*) FROM dead_letter WHERE decision = 'halted'`).pluck().get()!;
  if (halted > 1n) differs('at most one that is halted', halted);
  const rows = db.prepare<[bigint, bigint], DeadLetterRow>(
    `SELECT ${DEAD_LETTER_COLUMNS} FROM dead_letter WHERE id > ? AND id <= ? ORDER BY id`,
  );
  let next = 1n;
  const steps = { ...context, rowsPerStep: DEAD_LETTERS_PER_STEP };
  yield* inRanges(steps, { table: 'dead_letter', key: 'id', phase: 'dead letters' }, (from, to) => {
    for (const deadLetter of rows.iterate(from, to)) {
      verifyDeadLetter(deadLetter, next, (expected, found) =>
        differs(`dead letter ${deadLetter.id}: ${expected}`, found),
      );
      next = deadLetter.id + 1n;
    }
  });
}

function verifyDeadLetter(deadLetter: DeadLetterRow, next: bigint, differs: Differs): void {
  const { id, kind, code, decision, offset, cursor, place, sha256, length, bytes, createdAt } = deadLetter;
  if (id !== next) differs(`numbers from 1 without gaps, next ${next}`, id);
  const kindOfCode = new Map<string, string>(Object.entries(DEAD_LETTER_KINDS)).get(code);
  if (kindOfCode === undefined) differs(`a code (${Object.keys(DEAD_LETTER_KINDS).join(', ')})`, code);
  else if (kind !== kindOfCode) differs(`kind ${kindOfCode}, that of its code ${code}`, kind);
  if (!DECISIONS.some((each) => each === decision)) differs(`a decision (${DECISIONS.join(', ')})`, decision);
  if (offset < 0n) differs('offset >= 0', offset);
  if (code === 'broken_container' ? cursor !== null : !cursor)
    differs('the cursor after the message or batch, none of a broken container', cursor);
  if (!isPlace(place)) differs('its place as JSON', place);
  if (createdAt < 0n) differs('a time of our clock', timeText(createdAt));
  const reason = reasonOf(deadLetter);
  // The reason of such an archive ends with the dead letter that explains it.
  const isSaid =
    code === 'create_left_out' ? deadLetter.reason.startsWith(`${reason}; `) : deadLetter.reason === reason;
  if (reason === null || !isSaid)
    differs(reason === null ? 'field, given and expected' : `reason ${reason}`, deadLetter.reason);
  if (kind === 'container') {
    if (sha256.length + bytes.length + Number(length) > 0) differs('no bytes of a container', `${length} bytes`);
  } else if (kind === 'overlong') {
    if (length <= BigInt(bytes.length)) differs('a length beyond the bytes kept', length);
    if (sha256.length !== SHA256_BYTES) differs('a SHA-256', sha256.toString('hex'));
  } else {
    if (length !== BigInt(bytes.length)) differs(`length ${bytes.length}, that of its bytes`, length);
    const names = namesIn(deadLetter);
    if (names !== null) differs(names, `${deadLetter.updateId}, ${deadLetter.recordTime}`);
    const hash = createHash('sha256').update(bytes).digest();
    if (!hash.equals(sha256)) differs(`sha256 ${hash.toString('hex')}, that of its bytes`, sha256.toString('hex'));
  }
}

/** Whether it is JSON as a source writes it: an object of texts, numbers and nulls. */
function isPlace(text: string): boolean {
  const place = jsonOrNull(text);
  return (
    isObject(place) && Object.values(place).every((value) => value === null || /^(string|number)$/.test(typeof value))
  );
}

/** The reason that follows from its parts; null where some are missing. A container has none, only a reason. */
function reasonOf({ kind, field, given, expected, reason }: DeadLetterRow): string | null {
  if (kind === 'container') return field === null && given === null && expected === null ? reason : null;
  return field === null || given === null || expected === null
    ? null
    : `${field}: given ${given}, expected ${expected}`;
}

/** The message's own ids, where the dead letter has others; a message with fields of both formats is not checked. */
function namesIn({ bytes, updateId, recordTime }: DeadLetterRow): string | null {
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
