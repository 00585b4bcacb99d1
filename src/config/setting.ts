import { z } from 'zod';
import { durationUs, flagValue, isHttpUrl } from './value-schemas.ts';

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

export const durationMs = (bounds: { min: string; max: string }): z.ZodType<number> =>
  durationUs(bounds).transform((micros) => micros / 1000);
