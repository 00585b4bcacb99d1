import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';

/** The value of an option's text; null where there is none. Throws a Refusal for a text that is no such value. */
export function parseOption<Value>(
  option: string,
  text: string | undefined,
  { parse, expected }: { readonly parse: (text: string) => Value | null; readonly expected: string },
): Value | null {
  if (text === undefined) return null;
  const value = parse(text);
  if (value === null) throw new Refusal(`--${option}: given ${showGiven(text)}, expected ${expected}`);
  return value;
}
