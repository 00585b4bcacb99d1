import { wrongValue } from './http-fault.ts';

/** A field of a request: how it is read and documented. */
export interface Field<Value> {
  /** `given` is undefined where the field is absent. Throws a 400 with the field's name for an invalid value. */
  readonly read: (given: unknown, name: string) => Value;
  /** Throws a 400 for a value that is too large, before any field is read. */
  readonly limit?: (given: unknown) => void;
  /** JSON Schema. */
  readonly schema: object;
  readonly isOptional?: true;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** The values of fields. */
export type ReadFields<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer Value> ? Value : never;
};

/** A field that `parse` reads; null: not valid. */
export function field<Value>(parse: (given: unknown) => Value | null, expected: string, schema: object): Field<Value> {
  const read = (given: unknown, name: string): Value => {
    const value = parse(given);
    if (value === null) throw wrongValue(name, given, expected);
    return value;
  };
  return { read, schema };
}

/** A field that may also be absent or null. */
export function optional<Value>({ read, schema }: Field<Value>, documented: object = {}): Field<Value | null> {
  return {
    read: (given, name) => (given === undefined || given === null ? null : read(given, name)),
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
  const limited = named.filter(([, { limit }]) => limit !== undefined);
  return (given) => {
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw wrongValue('body', given, 'a JSON object');
    const values = given as Readonly<Record<string, unknown>>;
    for (const [name, { limit }] of limited) limit!(values[name]);
    const found: Record<string, unknown> = {};
    for (const [name, { read }] of named) found[name] = read(values[name], name);
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
