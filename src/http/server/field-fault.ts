import type { z } from 'zod';
import { showGiven } from '../../show-given.ts';
import { HttpFault } from './http-fault.ts';

/**
 * Parses a part of a request by its schema, whose messages say what is expected. Throws a 400 that names the first
 * field that is wrong, what was given there and what is expected.
 */
export function parseFields<Query>(schema: z.ZodType<Query>, given: unknown): Query {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new HttpFault(400, `${showPath(path)}: given ${showGiven(valueAt(given, path))}, expected ${message}`);
}

function showPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'body';
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${String(key)}`)).join('');
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], given);
}
