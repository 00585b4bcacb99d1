import { type HttpFault, wrongValue } from './http-fault.ts';

/** A field of a request: how it is read and documented. */
export interface Field<Value> {
  /** `given` is undefined where the field is absent. Returns a WrongField for an invalid value. */
  readonly read: (given: unknown) => Value | WrongField;
  /** JSON Schema. */
  readonly schema: object;
  readonly isOptional?: true;
}

/** What was expected of an invalid value; `item`: the index in a list of the item that is invalid. */
export class WrongField {
  readonly expected: string;
  readonly item: number | null;

  constructor(expected: string, item: number | null = null) {
    this.expected = expected;
    this.item = item;
  }
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** The values of fields. */
export type ReadFields<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer Value> ? Value : never;
};

/** A field that `parse` reads; null: not valid. */
export function field<Value>(parse: (given: unknown) => Value | null, expected: string, schema: object): Field<Value> {
  const wrong = new WrongField(expected);
  return { read: (given) => parse(given) ?? wrong, schema };
}

/** A field that may also be absent or null. */
export function optional<Value>({ read, schema }: Field<Value>, documented: object = {}): Field<Value | null> {
  return {
    read: (given) => (given === undefined || given === null ? null : read(given)),
    schema: { ...documented, anyOf: [schema, { type: 'null' }] },
    isOptional: true,
  };
}

/**
 * Returns a function that reads a request's fields in their order and ignores all others. It throws a 400 with the name
 * of the first invalid one, its value and what is expected.
 */
export function createFieldsReader<F extends Fields>(fields: F): (given: unknown) => ReadFields<F> {
  const named = Object.entries(fields);
  return (given) => {
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw wrongValue('body', given, 'a JSON object');
    const found: Record<string, unknown> = {};
    for (const [name, { read }] of named) {
      const value = (given as Readonly<Record<string, unknown>>)[name];
      const result = read(value);
      if (result instanceof WrongField) throw wrongField(name, value, result);
      found[name] = result;
    }
    return found as ReadFields<F>;
  };
}

/** The JSON Schema of a request with these fields. */
export function fieldsSchema(fields: Fields): { properties: Record<string, object>; required: string[] } {
  const named = Object.entries(fields);
  return {
    properties: Object.fromEntries(named.map(([name, { schema }]) => [name, schema])),
    required: named.filter(([, { isOptional }]) => isOptional !== true).map(([name]) => name),
  };
}

function wrongField(name: string, given: unknown, { expected, item }: WrongField): HttpFault {
  return item === null
    ? wrongValue(name, given, expected)
    : wrongValue(`${name}[${item}]`, (given as readonly unknown[])[item], expected);
}
