import type { WriterOptions } from '../src/views/write/writer.ts';

/** The settings of a replay that leaves everything at its default. */
export const REPLAY_OPTIONS: WriterOptions = {
  onBadUpdate: 'halt',
  snapshotPeriodUs: null,
  dso: null,
  migrationId: null,
  recordTimeAheadMaxUs: 3_600_000_000,
  recordTimeGapMaxUs: 400 * 86_400_000_000,
  now: () => Date.now() * 1000,
};
