/** The longest part of a given value that a message repeats; the rest may be megabytes. */
const GIVEN_CHARS_MAX = 100;

/** Ends what is expected in place of a message that breaks off, of the archive of what is not active, and of an update that comes in the wrong order: advice looks for it. */
export const LOOKS_CUT_OFF = '; this looks cut off';
export const NOT_ACTIVE = 'was never created or is archived already';
export const FIRST_KNOWN = 'first update known of this synchronizer';

/**
 * What is wrong with an update: which field (as the feed writes it), what was given, what is expected.
 * Thrown by decoding and applying alike; the loop turns it into a dead letter (design.md section 7).
 */
export class BadUpdate extends Error {
  readonly field: string;
  readonly given: string;
  readonly expected: string;

  constructor(field: string, given: unknown, expected: string) {
    const shown = showGiven(given);
    super(`${field}: given ${shown}, expected ${expected}`);
    this.name = 'BadUpdate';
    this.field = field;
    this.given = shown;
    this.expected = expected;
  }

  /** The same fault again, behind a thread or from a dead letter; `given` is already in the form of a message. */
  static restore(fault: { readonly field: string; readonly given: string; readonly expected: string }): BadUpdate {
    const bad = new BadUpdate(fault.field, null, fault.expected);
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
