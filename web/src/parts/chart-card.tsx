import type { ComponentChildren, JSX } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import type { Here } from '../data/answers.ts';
import type { ApiRequest } from '../data/ask.ts';
import type { Query } from '../data/place.ts';
import { type Range, SPANS, type Span, startOf, stepsFor } from '../data/range.ts';
import { csvOf, snapshotsRequest } from '../data/requests.ts';
import { fieldOf, timeOfField } from '../data/time.ts';
import { useAnswer } from '../data/use-answer.ts';
import { AnswerCard } from './card.tsx';
import { Choice } from './choice.tsx';

/** What the reader wants the chart to show. */
interface Zoom {
  readonly span: Span | Range;
  /** Null: the smallest step that fits. */
  readonly every: string | null;
}

/** What it shows. */
interface ChartRange extends Range {
  /** The time between two points, and the others that may be chosen. */
  readonly every: string;
  readonly steps: readonly string[];
}

interface Props<Answer> {
  readonly title: string;
  readonly here: Here;
  readonly ask: (query: Query) => ApiRequest<Answer>;
  /** Whether the answer has pages. */
  readonly paged: boolean;
  readonly refresh?: unknown;
  /** The requests of a range, besides that of its points. */
  readonly others?: (range: Range) => readonly ApiRequest<unknown>[];
  readonly children: (answer: Answer, shown: { readonly range: Range; readonly select: Select }) => ComponentChildren;
}

/** Has the chart show what lies between two times. */
type Select = (from: string, to: string) => void;

/** A chart of the points within a range that the reader chooses; it is known once the first snapshot is. */
export function ChartCard<Answer>({ title, here, ask, paged, refresh, others, children }: Props<Answer>): JSX.Element {
  const [zoom, setZoom] = useState<Zoom>({ span: 'all', every: null });
  const select = useCallback((from: string, to: string) => setZoom({ span: { from, to }, every: null }), []);
  const first = useAnswer(snapshotsRequest({ migration_id: here.migration, order: 'asc', limit: 1 }));
  const oldest = first.answer?.snapshots[0]?.record_time;
  const range = oldest === undefined ? null : rangeOf(zoom, oldest, here);
  const request = range && ask({ migration_id: here.migration, from: range.from, to: range.to, every: range.every });
  return (
    <AnswerCard
      title={title}
      request={request}
      others={range === null ? [] : others?.(range)}
      refresh={refresh}
      csv={request && csvOf(request, paged)}
      aside={range && <RangeControls zoom={zoom} range={range} change={setZoom} />}
      lines={8}
    >
      {(answer) => range && children(answer, { range, select })}
    </AnswerCard>
  );
}

function rangeOf({ span, every }: Zoom, oldest: string, { newest, periodMs }: Here): ChartRange {
  const ends = { oldest, newest: newest.record_time };
  const range = typeof span === 'object' ? span : { from: startOf(span, ends), to: ends.newest };
  const steps = stepsFor(range, periodMs);
  return { ...range, every: every !== null && steps.includes(every) ? every : steps[0]!, steps };
}

function RangeControls({
  zoom,
  range,
  change,
}: {
  readonly zoom: Zoom;
  readonly range: ChartRange;
  readonly change: (zoom: Zoom) => void;
}): JSX.Element {
  const { span } = zoom;
  const { from, to, every, steps } = range;
  return (
    <div class="range">
      <Choice
        label="Range"
        of={SPANS}
        value={typeof span === 'object' ? ('' as Span) : span}
        choose={(name) => change({ ...zoom, span: name })}
      />
      <TimeField name="From" value={from} change={(chosen) => change({ ...zoom, span: { from: chosen, to } })} />
      <TimeField name="To" value={to} change={(chosen) => change({ ...zoom, span: { from, to: chosen } })} />
      <label>
        <span>Step</span>
        <select value={every} onChange={({ currentTarget }) => change({ ...zoom, every: currentTarget.value })}>
          {steps.map((step) => (
            <option key={step}>{step}</option>
          ))}
        </select>
      </label>
    </div>
  );
}

function TimeField({
  name,
  value,
  change,
}: {
  readonly name: string;
  readonly value: string;
  readonly change: (time: string) => void;
}): JSX.Element {
  return (
    <label>
      <span>{name} (UTC)</span>
      <input
        type="datetime-local"
        value={fieldOf(value).slice(0, 16)}
        onChange={({ currentTarget }) => currentTarget.value !== '' && change(timeOfField(currentTarget.value))}
      />
    </label>
  );
}
