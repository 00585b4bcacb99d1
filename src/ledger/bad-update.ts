/** The longest part of a given value that a message repeats; the rest may be megabytes. */
const GIVEN_CHARS_MAX = 100;

/** What can be wrong with a message, for programs: dead letters keep it, and advice is chosen by it. */
export const FAULT_CODES = [
  /** A field is missing, or holds what it may not; what no other code says. */
  'bad_field',
  /** The message breaks off, within a character or within its JSON. */
  'cut_off',
  'not_utf8',
  'not_json',
  /** JSON that is no update. */
  'not_a_feed',
  'overlong',
  /** At or before a record time that its synchronizer has passed. */
  'disorder',
  /** Before the first update that is known of its synchronizer. */
  'before_first',
  /** An archive of what was never created, or is archived already. */
  'not_active',
  /** A create under the id of an active contract that is another one. */
  'other_content',
  'ahead_of_clock',
  /** So far after the time reached that it would seal a flood of snapshots. */
  'record_time_gap',
  /** From a partition that was passed over as idle, and too late: an import, or an update at or before a sealed grid time. */
  'overtaken',
] as const;
export type FaultCode = (typeof FAULT_CODES)[number];

/**
 * What is wrong with an update: which field (as the feed writes it), what was given, what is expected.
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

  /** The same fault again, after a thread or from a dead letter; `given` is already in the form of a message. */
  static restore(fault: Pick<BadUpdate, 'code' | 'field' | 'given' | 'expected'>): BadUpdate {
    const bad = new BadUpdate(fault.code, fault.field, null, fault.expected);
    return Object.assign(bad, {
      given: fault.given,
      message: `${fault.field}: given ${fault.given}, expected ${fault.expected}`,
    });
  }
}

/**
 * A value as a message shows it: JSON, cut to 100 characters, or `nothing` where the field is missing. A number that no
 * double holds, such as 1e999, is shown as `Infinity`: JSON would make it `null`, which nobody gave. Of a whole number from
 * 2^53 on only the double next to it is known, so it is shown as `about` that.
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

/** JSON.parse reads nesting of any depth, JSON.stringify overflows the stack on it. */
function toJson(given: unknown): string {
  try {
    return JSON.stringify(given, bigintAsText);
  } catch (error) {
    if (error instanceof RangeError) return 'JSON nested too deep to be shown';
    throw error;
  }
}

/** JSON.stringify refuses a bigint, and a request's long integers are some. */
function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
