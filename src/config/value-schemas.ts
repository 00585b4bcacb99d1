import { isIP } from 'node:net';
import { z } from 'zod';

/** Microseconds in each unit a duration may be written in. */
const UNIT_US = { ms: 1_000, s: 1_000_000, m: 60_000_000, h: 3_600_000_000, d: 86_400_000_000 } as const;
type Unit = keyof typeof UNIT_US;

const DURATION = /^(\d{1,12})(?:\.(\d{1,6}))?(ms|s|m|h|d)$/;

export const DURATION_EXPECTED = 'a duration such as 500ms, 30s, 10m, 3h or 1d';

/**
 * Microseconds of a duration such as `10m` or `1.5h`; null where the text is none, or is no whole number of
 * microseconds below 2^53.
 */
export function parseDuration(text: string): number | null {
  const m = DURATION.exec(text);
  if (m === null) return null;
  const fraction = m[2] ?? '';
  const scaled = BigInt(m[1] + fraction) * BigInt(UNIT_US[m[3] as Unit]);
  const scale = 10n ** BigInt(fraction.length);
  const micros = Number(scaled / scale);
  return scaled % scale === 0n && Number.isSafeInteger(micros) ? micros : null;
}

/** A duration in microseconds, within bounds that are written as durations too. */
export function durationUs({ min, max }: { min: string; max: string }): z.ZodType<number> {
  const [minUs, maxUs] = [parseDuration(min)!, parseDuration(max)!];
  return z.string().transform((text, context) => {
    const micros = parseDuration(text);
    if (micros !== null && micros >= minUs && micros <= maxUs) return micros;
    context.addIssue({ code: 'custom', message: 'not a duration within bounds' });
    return z.NEVER;
  });
}

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

/** A switch: the bare option is true; the environment says `true` or `false` (or 1 or 0). */
export function flag(): z.ZodType<boolean> {
  return z.union([
    z.boolean(),
    z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1'),
  ]);
}

/** Values separated by commas, or a JSON array. Empty text is the empty list. */
export function list(item: z.ZodType<string, string>): z.ZodType<readonly string[]> {
  return z
    .union([z.array(z.string()), z.string().transform((text) => (text === '' ? [] : text.split(',')))])
    .transform((items) => items.map((text) => text.trim()))
    .pipe(z.array(item));
}

export const ipAddress = z.string().refine((text) => isIP(text) !== 0);
