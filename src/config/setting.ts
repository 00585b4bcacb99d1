import { z } from 'zod';
import { DURATION_EXPECTED } from '../ledger/duration.ts';
import { isHttpUrl, list, microsWithin, msWithin, wholeNumber } from './value-schemas.ts';

/** One setting, whose option, environment variable and key in the configuration file share one name. */
export interface Setting<Value, Default extends string | null = string | null> {
  readonly schema: z.ZodType<Value>;
  /** The expected value, in messages and in the help. */
  readonly expected: string;
  readonly help: string;
  /** The value where none is given, written as in the environment; null: none, and then `otherwise` may say what holds. */
  readonly default: Default;
  readonly otherwise?: string;
  /** The value's placeholder in the help: an option of `FILE...` takes several values, one of `URL,...` a list; null for a switch. */
  readonly placeholder: string | null;
  /** Relative paths in the configuration file start at its folder, others at the working directory. */
  readonly path?: true;
}

/** A setting as it is written down: without `default` there is none. */
type Written<Default extends string | null> = Omit<Setting<unknown, Default>, 'schema' | 'default'> & {
  readonly default?: Default;
};
/** What is left to say where the kind of value says what is expected. */
type About<Default extends string | null> = Omit<Written<Default>, 'expected' | 'placeholder'> & {
  readonly placeholder?: string;
};

export function setting<Value, Default extends string | null = null>(
  schema: z.ZodType<Value>,
  { default: value, ...rest }: Written<Default>,
): Setting<Value, Default> {
  return { schema, default: (value ?? null) as Default, ...rest };
}

export const text = (): z.ZodType<string, string> => z.string().min(1);
export const path = (help: string) =>
  setting(text(), { expected: 'a file name', help, placeholder: 'FILE', path: true });
export const httpAddress = (help: string) =>
  setting(z.string().refine(isHttpUrl), {
    expected: 'a http or https address without a user',
    help,
    placeholder: 'URL',
  });
export const httpAddresses = (help: string) =>
  setting(list(z.string().refine(isHttpUrl)), {
    expected: 'http or https addresses without a user, several separated by commas',
    help,
    placeholder: 'URL,...',
  });
/** A switch: the bare option is true; the environment says `true` or `false` (or 1 or 0). */
const switched = z.union([
  z.boolean(),
  z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], case: 'sensitive' }),
]);
export const flag = (help: string) =>
  setting(switched, { expected: 'true or false', help, default: 'false', placeholder: null });

export const count = <Default extends string | null = null>(min: number, max: number, about: About<Default>) =>
  setting(wholeNumber({ min, max }), { expected: `a whole number from ${min} to ${max}`, placeholder: 'N', ...about });

export const oneOf = <const Value extends string, Default extends string | null = null>(
  values: readonly Value[],
  about: About<Default>,
) =>
  setting(z.enum(values), {
    expected: values.join(', ').replace(/, (?=[^,]*$)/, ' or '),
    placeholder: 'HOW',
    ...about,
  });

const durationOf =
  (within: typeof microsWithin) =>
  <Default extends string | null = null>(min: string, max: string, about: About<Default>) =>
    setting(within({ min, max }), {
      expected: `${DURATION_EXPECTED}, from ${min} to ${max}`,
      placeholder: 'D',
      ...about,
    });
export const durationUs = durationOf(microsWithin);
export const durationMs = durationOf(msWithin);

/** The keys of a group of settings, in the order in which a message names the first that was given. */
export function keysOf<Group extends object>(group: Group): readonly (keyof Group)[] {
  return Object.keys(group) as (keyof Group)[];
}
