import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import type { Invocation } from './command.ts';

/** The value of an option's text; null where it is not given. Throws a Refusal for a text that is no such value. */
export function parseOption<Value>(
  options: Invocation['options'],
  name: string,
  { parse, expected }: { readonly parse: (text: string) => Value | null; readonly expected: string },
): Value | null {
  const text = options[name] as string | undefined;
  if (text === undefined) return null;
  const value = parse(text);
  if (value === null) throw new Refusal(`--${name}: given ${showGiven(text)}, expected ${expected}`);
  return value;
}
