import { isIP } from 'node:net';
import { z } from 'zod';
import { parseDuration } from '../ledger/duration.ts';

/** A century: more than any use, and far below what a double counts exactly in microseconds. */
export const LONGEST = '36500d';

/** In microseconds; NaN where the text is none. */
const duration = z.string().transform((text) => parseDuration(text) ?? Number.NaN);

/** A duration in microseconds, within bounds that are written as durations too. */
export function microsWithin({ min, max }: { min: string; max: string }): z.ZodType<number> {
  const [minUs, maxUs] = [parseDuration(min)!, parseDuration(max)!];
  return duration.pipe(z.number().min(minUs).max(maxUs));
}

export const msWithin = (bounds: { min: string; max: string }): z.ZodType<number> =>
  microsWithin(bounds).transform((micros) => micros / 1000);

/** A whole number: digits on the command line and in the environment, a JSON number in the file. */
export function wholeNumber({ min, max }: { min: number; max: number }): z.ZodType<number> {
  return z
    .union([
      z.number(),
      z
        .string()
        .regex(/^\d{1,16}$/)
        .transform(Number),
    ])
    .pipe(z.int().min(min).max(max));
}

/** Values separated by commas, or a JSON array. Empty text is the empty list. */
export function list(item: z.ZodType<string, string>): z.ZodType<readonly string[]> {
  return z
    .union([z.array(z.string()), z.string().transform((text) => (text === '' ? [] : text.split(',')))])
    .transform((items) => items.map((text) => text.trim()))
    .pipe(z.array(item));
}

export const ipAddress = z.string().refine((text) => isIP(text) !== 0);

/** An address of a server, without a user or password, which would reach the log, and without a query. */
export function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && [username, password, search, hash].every((part) => part === '');
}

/** Whether the server's certificate is required, by the value of `sslmode`; it is always verified then. */
export const SSL_MODES: Readonly<Record<string, boolean>> = { disable: false, require: true, 'verify-full': true };

/** An address of a PostgreSQL server. A password in it would reach the log. */
export function isPostgresUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hostname, pathname, searchParams, hash } = new URL(text);
  const mode = searchParams.get('sslmode') ?? 'disable';
  return (
    ['postgres:', 'postgresql:'].includes(protocol) &&
    [username, hostname, pathname.slice(1)].every((part) => part !== '') &&
    [password, hash].every((part) => part === '') &&
    [...searchParams.keys()].every((name) => name === 'sslmode') &&
    Object.hasOwn(SSL_MODES, mode)
  );
}
