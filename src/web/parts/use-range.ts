import { useCallback, useState } from 'preact/hooks';
import type { Here } from '../data/here.ts';
import { type Range, type Span, startOf, stepsFor } from '../data/range.ts';
import { snapshotsRequest } from '../data/requests.ts';
import { useAnswer } from '../data/use-answer.ts';

/** What the reader wants a chart to show. */
export interface Zoom {
  readonly span: Span | Range;
  /** Null: the smallest step that fits. */
  readonly every: string | null;
}

/** The range that a chart shows, once the first snapshot is known. */
export interface ChartRange extends Range {
  /** The time between two points, and the others that may be chosen. */
  readonly every: string;
  readonly steps: readonly string[];
}

export function useRange(here: Here): {
  readonly zoom: Zoom;
  readonly setZoom: (zoom: Zoom) => void;
  /** Shows what lies between two times. */
  readonly select: (from: string, to: string) => void;
  readonly range: ChartRange | null;
} {
  const [zoom, setZoom] = useState<Zoom>({ span: 'all', every: null });
  const first = useAnswer(snapshotsRequest({ migration_id: here.migration, order: 'asc', limit: 1 }));
  const oldest = first.answer?.snapshots[0]?.record_time ?? null;
  const select = useCallback((from: string, to: string) => setZoom({ span: { from, to }, every: null }), []);
  return { zoom, setZoom, select, range: oldest === null ? null : rangeOf(zoom, oldest, here) };
}

function rangeOf({ span, every }: Zoom, oldest: string, { newest, periodMs }: Here): ChartRange {
  const ends = { oldest, newest: newest.record_time };
  const range = typeof span === 'object' ? span : { from: startOf(span, ends), to: ends.newest };
  const steps = stepsFor(range, periodMs);
  return { ...range, every: every !== null && steps.includes(every) ? every : steps[0]!, steps };
}
