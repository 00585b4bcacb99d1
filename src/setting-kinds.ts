import { isIP } from 'node:net';
import { Option } from 'commander';
import { z } from 'zod';
import { DURATION_EXPECTED, parseDuration } from './ledger/duration.ts';
import { isPartyId, PARTY_EXPECTED } from './ledger/ledger-ids.ts';
import { Refusal } from './refusal.ts';
import { showAddress } from './show-given.ts';

/** A setting as it is declared. Its option, environment variable and key in the configuration file share one name. */
interface Facts {
  readonly help: string;
  /** The expected value, in messages. */
  readonly expected: string;
  /** In the help: an option of `FILE...` takes several values, one of `URL,...` a list; null for a switch. */
  readonly placeholder: string | null;
  /** Relative paths in the configuration file start at its folder, others at the working directory. */
  readonly isPath: boolean;
  /** The value where none is given, as text; without one the value is null, and `help` says what holds. */
  readonly default?: string;
  /** The field of Config, where it says more than the name of the setting. */
  readonly field?: string;
  /** Also of use to a service that only reads; any other setting needs a service that writes. */
  readonly reads?: true;
  /** Settings without which it is of no use. */
  readonly needs?: readonly string[];
}
type About = Omit<Facts, 'help' | 'expected' | 'placeholder' | 'isPath'> & { readonly placeholder?: string };

export type Setting<Value = unknown, Given = unknown> = Facts & Given & { readonly schema: z.ZodType<Value> };

export function kind<Value>(schema: z.ZodType<Value>, expected: string, placeholder: string | null, isPath = false) {
  return <const Given extends About = object>(help: string, about: Given = {} as Given): Setting<Value, Given> => ({
    schema,
    expected,
    placeholder,
    isPath,
    help,
    ...about,
  });
}

const nonEmpty = z.string().min(1);

/** Values separated by commas, or a JSON array. Empty text is the empty list. */
function listOf(item: z.ZodType<string, string>): z.ZodType<readonly string[]> {
  return z
    .union([z.array(z.string()), z.string().transform((text) => (text === '' ? [] : text.split(',')))])
    .transform((items) => items.map((text) => text.trim()))
    .pipe(z.array(item));
}

/** An address of a server, without a user or password, which would reach the log, and without a query. */
function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && [username, password, search, hash].every((part) => part === '');
}

export const httpUrl = z.string().refine(isHttpUrl);

export const matching = (pattern: RegExp, expected: string, placeholder: string) =>
  kind(z.string().regex(pattern), expected, placeholder);
export const text = (expected: string, placeholder: string) => kind(nonEmpty, expected, placeholder);
export const directory = kind(nonEmpty, 'a directory', 'DIR', true);
export const path = kind(nonEmpty, 'a file name', 'FILE', true);
export const paths = kind(listOf(nonEmpty), 'file names', 'FILE...', true);
export const httpAddress = kind(httpUrl, 'a http or https address without a user', 'URL');
export const httpAddresses = kind(
  listOf(httpUrl),
  'http or https addresses without a user, several separated by commas',
  'URL,...',
);
export const party = kind(z.string().refine(isPartyId), PARTY_EXPECTED, 'PARTY');
export const partiesOrAll = kind(
  listOf(z.union([z.literal('all'), z.string().refine(isPartyId)])),
  `parties separated by commas (${PARTY_EXPECTED}), or all`,
  'P,...',
);
export const ipAddresses = kind(
  listOf(z.string().refine((given) => isIP(given) !== 0)),
  'IP addresses separated by commas',
  'IP,...',
);
/** An address to listen on. */
export const hostAndPort = kind(
  z
    .string()
    .regex(/^(\[[0-9A-Fa-f:.]+\]|[^\s,:[\]]+):\d{1,5}$/)
    .transform((given) => ({ host: given.replaceAll(/^\[|\]?:\d+$/g, ''), port: Number(given.split(':').at(-1)) }))
    .refine(({ port }) => port <= 65_535),
  'a host and a port such as 127.0.0.1:9464',
  'HOST:PORT',
);
export const listMatching = (pattern: RegExp, expected: string, placeholder: string) =>
  kind(listOf(z.string().regex(pattern)), expected, placeholder);
export const oneOf = <const Value extends string>(...values: readonly Value[]) =>
  kind(z.enum(values), values.join(', ').replace(/, (?=[^,]*$)/, ' or '), 'HOW');
/** The bare option is true. */
export const flag = kind(
  z.union([z.boolean(), z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], case: 'sensitive' })]),
  'true or false',
  null,
);

/** A whole number: digits on the command line and in the environment, a JSON number in the file. */
export function count(min: number, max: number) {
  const digits = z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number);
  const schema = z.union([z.number(), digits]).pipe(z.int().min(min).max(max));
  return kind(schema, `a whole number from ${min} to ${max}`, 'N');
}

/** A century: more than any use, and far below what a double counts exactly in microseconds. */
export const LONGEST = '36500d';

/** In microseconds, within bounds that are written as durations too. */
function durationWithin(min: string, max: string): z.ZodType<number> {
  return z
    .string()
    .transform((given) => parseDuration(given) ?? Number.NaN)
    .pipe(z.number().min(parseDuration(min)!).max(parseDuration(max)!));
}

const durationIn =
  (unitUs: number) =>
  (min: string, max = LONGEST) =>
    kind(
      durationWithin(min, max).transform((micros) => micros / unitUs),
      `${DURATION_EXPECTED}, from ${min} to ${max}`,
      'D',
    );
export const durationUs = durationIn(1);
export const durationMs = durationIn(1_000);
export const durationMsOrOff = (min: string) =>
  kind(
    z.union([z.literal('off').transform(() => null), durationMs(min)('').schema]),
    `off, or ${DURATION_EXPECTED}, from ${min} to ${LONGEST}`,
    'D',
  );
export const durationDividing = (min: string, max: string) =>
  kind(
    durationWithin(min, max).refine((micros) => parseDuration(max)! % micros === 0),
    `a duration from ${min} to ${max} that divides ${max}, such as 10m or 3h`,
    'D',
  );

const kebab = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export function optionName(key: string): string {
  return `--${kebab(key)}`;
}

export function environmentName(key: string): string {
  return `HOLDFAST_${kebab(key).replaceAll('-', '_').toUpperCase()}`;
}

/** The option of a setting, which commander also reads from the environment; `loadConfig` parses its value. */
export function settingOption(
  key: string,
  { help, expected, placeholder, schema, default: value = '' }: Setting,
): Option {
  const [, bounds] = expected.split(' from ');
  const argument = placeholder === null ? '[true|false]' : `<${placeholder}>`;
  const option = new Option(
    `${optionName(key)} ${argument}`,
    bounds === undefined ? help : `${help}; from ${bounds}`,
  ).env(environmentName(key));
  if (placeholder === null) return option.preset('true');
  if (value !== '') option.default(value, value);
  return schema instanceof z.ZodEnum ? option.choices(schema.options as string[]) : option;
}

/** The value of a setting, or of an option that has the same values. Throws a Refusal with its name for anything else. */
export function parseAs<Value>(name: string, { schema, expected }: Setting<Value>, raw: unknown): Value {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new Refusal(`${name}: given ${showAddress(raw)}, expected ${expected}`);
}
