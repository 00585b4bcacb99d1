/** The longest part of a given value that a message repeats; the rest may be megabytes. */
const GIVEN_CHARS_MAX = 100;

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

/** The same of what may be an address: a user and password in it would reach the log. */
export function showAddress(given: unknown): string {
  const masked = (each: unknown): unknown =>
    typeof each === 'string' ? each.replace(/(:\/\/|:).*@/s, '$1...@') : each;
  return showGiven(Array.isArray(given) ? given.map(masked) : masked(given));
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
