import { z } from 'zod';

export const amount = (description: string) =>
  z
    .string()
    .regex(/^-?(0|[1-9]\d*)\.\d{10}$/)
    .meta({ description, examples: ['23765.0066688730'] });

export const time = (description: string) =>
  z
    .string()
    .meta({ format: 'date-time', description, examples: ['2025-02-14T15:00:00Z', '2024-09-20T13:31:28.40518Z'] });

export const int64 = (description: string, example: number) =>
  z.unknown().meta({ type: 'integer', format: 'int64', description, examples: [example] });

export const party = z
  .string()
  .max(255)
  .meta({ examples: ['alice::1220ab'] });

/** The snapshot that an answer is of. */
export const snapshot = {
  record_time: time('The time of the snapshot that was used.'),
  migration_id: int64('The migration of the snapshot.', 4),
};
