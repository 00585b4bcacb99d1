/** The longest part of a given value that a message repeats; the rest may be megabytes. */
const GIVEN_CHARS_MAX = 100;

/** What can be wrong with a message, as a code: dead letters store it, and it selects the advice. */
export const FAULT_CODES = [
  /** A field is missing or invalid, in a way that has no code of its own. */
  'bad_field',
  /** The message ends within a character or within its JSON. */
  'cut_off',
  'not_utf8',
  'not_json',
  /** JSON that is no update. */
  'not_a_feed',
  'overlong',
  /** At or before a record time that its synchronizer has already passed. */
  'disorder',
  /** Before the first update that is known of its synchronizer. */
  'before_first',
  /** An archive of a contract that was never created or is already archived. */
  'not_active',
  /** A create with the id of an active contract but other content. */
  'other_content',
  'ahead_of_clock',
  /** So long after the time reached that very many snapshots would be sealed. */
  'record_time_gap',
  /** From a lane that was passed over as idle, and too late: an import, or an update at or before a sealed grid time. */
  'overtaken',
] as const;
export type FaultCode = (typeof FAULT_CODES)[number];

/**
 * What is wrong with an update: the field (as the feed writes it), what was given, what is expected.
 * Thrown by decoding and applying alike; the loop turns it into a dead letter (docs/rules.md, bad updates).
 */
export class BadUpdate extends Error {
  readonly code: FaultCode;
  readonly field: string;
  readonly given: string;
  readonly expected: string;

  constructor(code: FaultCode, field: string, given: unknown, expected: string) {
    const shown = showGiven(given);
    super(`${field}: given ${shown}, expected ${expected}`);
    this.name = 'BadUpdate';
    this.code = code;
    this.field = field;
    this.given = shown;
    this.expected = expected;
  }

  /** A fault that came from another thread or a dead letter; `given` is already the text for a message. */
  static restore(fault: Pick<BadUpdate, 'code' | 'field' | 'given' | 'expected'>): BadUpdate {
    const bad = new BadUpdate(fault.code, fault.field, null, fault.expected);
    return Object.assign(bad, {
      given: fault.given,
      message: `${fault.field}: given ${fault.given}, expected ${fault.expected}`,
    });
  }
}

/**
 * A value for a message: JSON, cut to 100 characters, or `nothing` where the field is missing. A number too large for a
 * double, such as 1e999, is shown as `Infinity`, where JSON would write `null`. Of a whole number from 2^53 on only the
 * nearest double is known, so it is shown as `about` that.
 */
export function showGiven(given: unknown): string {
  if (given === undefined) return 'nothing';
  const text =
    typeof given === 'number' ? numberText(given) : typeof given === 'bigint' ? String(given) : toJson(given);
  return text.length <= GIVEN_CHARS_MAX ? text : `${text.slice(0, GIVEN_CHARS_MAX)}...`;
}

function numberText(given: number): string {
  return Number.isInteger(given) && !Number.isSafeInteger(given) ? `about ${given}` : String(given);
}

/** JSON.parse accepts nesting of any depth, on which JSON.stringify overflows the stack. */
function toJson(given: unknown): string {
  try {
    return JSON.stringify(given, bigintAsText);
  } catch (error) {
    if (error instanceof RangeError) return 'JSON nested too deep to be shown';
    throw error;
  }
}

/** JSON.stringify refuses bigints, which a request's long integers are. */
function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
