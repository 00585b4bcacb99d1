import { z } from 'zod';
import { DURATION_EXPECTED } from '../ledger/duration.ts';
import { flagValue, isHttpUrl, microsWithin, msWithin, wholeNumber } from './value-schemas.ts';

/** One setting, whose option, environment variable and key in the configuration file share one name. */
export interface Setting<Value, Default extends string | null = string | null> {
  readonly schema: z.ZodType<Value>;
  /** The expected value, in messages and in the help. */
  readonly expected: string;
  readonly help: string;
  /** The value where none is given, written as in the environment; null: none, and then `otherwise` may say what holds. */
  readonly default: Default;
  readonly otherwise?: string;
  /** The value's placeholder in the help; null for a switch. */
  readonly placeholder: string | null;
  /** Relative paths in the configuration file start at its folder, others at the working directory. */
  readonly path?: true;
  /** The option takes several values, and may be given several times. */
  readonly variadic?: true;
}

export function setting<Value, Default extends string | null>(
  schema: z.ZodType<Value>,
  rest: Omit<Setting<Value, Default>, 'schema'>,
): Setting<Value, Default> {
  return { schema, ...rest };
}

export const text = (): z.ZodType<string, string> => z.string().min(1);
export const path = (help: string): Setting<string, null> =>
  setting(text(), { expected: 'a file name', help, default: null, placeholder: 'FILE', path: true });
export const httpAddress = (help: string): Setting<string, null> =>
  setting(z.string().refine(isHttpUrl), {
    expected: 'a http or https address without a user',
    help,
    default: null,
    placeholder: 'URL',
  });
export const flag = (help: string): Setting<boolean, 'false'> =>
  setting(flagValue(), { expected: 'true or false', help, default: 'false', placeholder: null });

/** What is left to say of a setting whose values are known. */
type About<Default extends string | null> = Pick<Setting<unknown, Default>, 'help' | 'default' | 'otherwise'> & {
  readonly placeholder?: string;
};

export function count<Default extends string | null>(
  min: number,
  max: number,
  about: About<Default>,
): Setting<number, Default> {
  return setting(wholeNumber({ min, max }), {
    expected: `a whole number from ${min} to ${max}`,
    placeholder: 'N',
    ...about,
  });
}

export function oneOf<const Value extends string, Default extends string | null>(
  values: readonly Value[],
  about: About<Default>,
): Setting<Value, Default> {
  const expected = values.join(', ').replace(/, (?=[^,]*$)/, ' or ');
  return setting(z.enum(values), { expected, placeholder: 'HOW', ...about });
}

type DurationSetting = <Default extends string | null>(
  min: string,
  max: string,
  about: About<Default>,
) => Setting<number, Default>;

const duration =
  (within: typeof microsWithin): DurationSetting =>
  (min, max, about) =>
    setting(within({ min, max }), {
      expected: `${DURATION_EXPECTED}, from ${min} to ${max}`,
      placeholder: 'D',
      ...about,
    });
export const durationUs = duration(microsWithin);
export const durationMs = duration(msWithin);

/** The keys of a group of settings, in the order in which a message names the first that was given. */
export function keysOf<Group extends object>(group: Group): readonly (keyof Group)[] {
  return Object.keys(group) as (keyof Group)[];
}
