import type { Random } from '../ledger/random.ts';

/** The parts of JSON Schema that our OpenAPI documents use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly examples?: readonly unknown[];
}

export type Components = Readonly<Record<string, Schema>>;

/** Texts that are valid in many places, so that requests meet each other: users, parties, times. */
const TEXTS = ['', 'u1', 'u2', 'u3', 'alice::1220ab', 'bob::1220ab', 'idp1', 'https://x.example/keys', 'display_name'];
const ODD_TEXTS = [
  '\u0000',
  'a\u0000b',
  '__proto__',
  'constructor',
  '\ud800',
  '\u{10ffff}',
  '\u202e',
  'é',
  "' OR 1=1 --",
  '%s%n',
  '../../etc/passwd',
  '\r\nX: y',
  '9223372036854775808',
  '-1',
  '1e3',
  '0001-01-01T00:00:00+18:00',
  '9999-12-31T23:59:59.999999999-18:00',
  'x'.repeat(300),
  'x'.repeat(5_000),
];
/** As JSON text: no value of JavaScript can represent all of them. */
const ODD_NUMBERS = ['0', '-0', '-1', '1.5', '1e999', '1e-999', '9007199254740993', '9223372036854775807'];
const HUGE_NUMBERS = ['9223372036854775808', '-9223372036854775809', '9'.repeat(400), `0.${'1'.repeat(400)}`];
const ODD_VALUES = ['null', 'true', '[]', '{}', '[[[]]]', '{"__proto__":{"id":"x"}}', '[null]', '{"0":1,"length":1}'];

export function oddText(random: Random): string {
  return random.pick(random.chance(0.5) ? ODD_TEXTS : TEXTS);
}

/** JSON text that has nothing to do with what is expected. */
export function oddJson(random: Random): string {
  switch (random.below(4)) {
    case 0:
      return random.pick([...ODD_NUMBERS, ...HUGE_NUMBERS]);
    case 1:
      return random.pick(ODD_VALUES);
    case 2:
      return `${'['.repeat(1 + random.below(100))}${']'.repeat(1 + random.below(100))}`;
    default:
      return JSON.stringify(oddText(random));
  }
}

/** JSON text that mostly follows a schema: the smaller `oddShare`, the more of it does. */
export function jsonOf(schema: Schema, components: Components, random: Random, oddShare: number): string {
  if (random.chance(oddShare)) return oddJson(random);
  const inner = (of: Schema): string => jsonOf(of, components, random, oddShare);
  if (schema.$ref !== undefined) return inner(components[schema.$ref.split('/').at(-1)!]!);
  if (schema.anyOf !== undefined) return inner(random.pick(schema.anyOf));
  if (schema.enum !== undefined) return JSON.stringify(random.pick(schema.enum));
  if (schema.examples !== undefined && random.chance(0.8)) return JSON.stringify(random.pick(schema.examples));
  switch (schema.type) {
    case 'object':
      return objectOf(schema, inner, random, oddShare);
    case 'array': {
      const items = Array.from({ length: random.below(4) }, () => inner(schema.items ?? {}));
      return `[${items.join(',')}]`;
    }
    case 'integer':
      return random.chance(0.7) ? String(random.below(200)) : random.pick([...ODD_NUMBERS, ...HUGE_NUMBERS]);
    case 'boolean':
      return String(random.chance(0.5));
    case 'null':
      return 'null';
    default:
      return JSON.stringify(random.chance(0.8) ? random.pick(TEXTS) : oddText(random));
  }
}

function objectOf(schema: Schema, inner: (of: Schema) => string, random: Random, oddShare: number): string {
  const members: string[] = [];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const required = schema.required?.includes(name) ?? false;
    if (random.chance(required ? 1 - oddShare : 0.7)) members.push(`${JSON.stringify(name)}:${inner(property)}`);
    if (random.chance(oddShare / 2)) members.push(`${JSON.stringify(name)}:${oddJson(random)}`);
  }
  if (typeof schema.additionalProperties === 'object')
    for (let i = random.below(3); i > 0; i--)
      members.push(`${JSON.stringify(oddText(random))}:${inner(schema.additionalProperties)}`);
  if (random.chance(oddShare)) members.push(`${JSON.stringify(oddText(random))}:${oddJson(random)}`);
  return `{${members.join(',')}}`;
}

/** Cuts, repeats or overwrites a part of a text's bytes. */
export function damaged(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1);
  const cut = random.below(Math.min(20, bytes.length - at) + 1);
  const put = Buffer.from(random.hex(8 * (1 + random.below(3))), 'hex').subarray(0, random.below(12));
  return Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)]);
}
