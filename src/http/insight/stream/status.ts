import { z } from 'zod';

/** The data of the event `status`. */
export const STREAM_STATUS = z
  .strictObject({
    phase: z.enum(['starting', 'reading', 'caught_up', 'halted', 'stopping']).meta({
      description: 'Reading: the service is behind its source, and only the newest snapshots are sent.',
    }),
    lag_seconds: z.union([z.number(), z.null()]).meta({
      description: 'How far the views are behind the source, in record time; null where that is not known.',
    }),
    updates: z.int().nonnegative().meta({ description: 'Applied since the process started.' }),
    halted: z.union([z.strictObject({ place: z.string(), reason: z.string() }), z.null()]).meta({
      description: 'Where and why the ingest is halted.',
    }),
    degraded: z.array(z.string()).meta({ description: 'What is wrong although the service goes on.' }),
  })
  .meta({ id: 'StreamStatus' });

export type StreamStatus = z.infer<typeof STREAM_STATUS>;
