import { parseInt64 } from '../../json/int64.ts';
import { DURATION_EXPECTED, formatDuration, parseDuration } from '../../ledger/duration.ts';
import { isPartyId, PARTY_EXPECTED } from '../../ledger/party.ts';
import { formatTime, parseRequestTime } from '../../ledger/time.ts';
import type { Order, RankedBy } from './facts.ts';

/** The parameters of tables: HTTP, the command line and page tokens all read them by this list. */
export interface Parameter<Value> {
  /** Null where the text is no such value. */
  readonly parse: (text: string) => Value | null;
  /** The value in its canonical form. */
  readonly print: (value: Value) => string;
  readonly expected: string;
  /** The default value, if there is one. */
  readonly initial?: string;
  readonly description: string;
  /** Its schema in the OpenAPI document. */
  readonly schema: Readonly<Record<string, unknown>>;
}

const PREFIX_CHARS_MAX = 255;
const TIME_EXPECTED =
  'an RFC 3339 date-time with Z or an offset, in UTC within the years 0001-9999, such as 2025-02-14T15:00:00Z';

const itself = <Text extends string>(text: Text): Text => text;

const time = (description: string): Parameter<bigint> => ({
  parse: parseRequestTime,
  print: formatTime,
  expected: TIME_EXPECTED,
  description,
  schema: { type: 'string', format: 'date-time' },
});

/** The first of the values is the default. */
function oneOf<const Name extends string>(names: readonly Name[], description: string): Parameter<Name> {
  return {
    parse: (text) => names.find((name) => name === text) ?? null,
    print: itself,
    expected: names.join(' or '),
    initial: names[0]!,
    description,
    schema: { type: 'string', enum: names, default: names[0] },
  };
}

interface Values {
  readonly party: string;
  readonly migration_id: bigint;
  readonly record_time: bigint;
  readonly from: bigint;
  readonly to: bigint;
  /** In microseconds. */
  readonly every: number;
  readonly order: Order;
  readonly by: RankedBy;
  readonly prefix: string;
}

export type ParameterName = keyof Values;

/** The given values of some parameters; null where none was given. */
export type Given<Name extends ParameterName> = { readonly [Each in Name]: Values[Each] | null };

export const PARAMETERS: { readonly [Name in ParameterName]: Parameter<Values[Name]> } = {
  party: {
    parse: (text: string) => (isPartyId(text) ? text : null),
    print: itself,
    expected: PARTY_EXPECTED,
    description: 'The owner; zeros for a party that never had any coin.',
    schema: { type: 'string', maxLength: 255 },
  },
  migration_id: {
    parse: parseInt64,
    print: String,
    expected: 'an integer from -9223372036854775808 to 9223372036854775807',
    description: 'The newest migration that has a snapshot, unless given.',
    schema: { type: 'integer', format: 'int64' },
  },
  record_time: time('The newest snapshot at or before this time; the newest one unless given.'),
  from: time('Inclusive; from the first snapshot on unless given.'),
  to: time('Inclusive; up to the newest snapshot unless given.'),
  every: {
    parse: (text: string) => parseDuration(text) || null,
    print: formatDuration,
    expected: `${DURATION_EXPECTED}, and a multiple of the snapshot period`,
    description:
      'Only snapshots of the grid whose time is a multiple of this, in UTC; a multiple of the snapshot period.',
    schema: { type: 'string' },
  },
  order: oneOf(['desc', 'asc'], 'Newest first, or oldest first.'),
  by: oneOf(['total', 'unlocked', 'locked'], 'The amount that owners are ordered by, largest first.'),
  prefix: {
    parse: (text: string) => (text !== '' && [...text].length <= PREFIX_CHARS_MAX ? text : null),
    print: itself,
    expected: `1 to ${PREFIX_CHARS_MAX} characters that the party id begins with`,
    description: 'What the party id begins with; case counts.',
    schema: { type: 'string', minLength: 1, maxLength: PREFIX_CHARS_MAX },
  },
};

/** The parameter of a name that is only known at run time. */
export function parameter(name: ParameterName): Parameter<unknown> {
  return PARAMETERS[name] as Parameter<unknown>;
}
