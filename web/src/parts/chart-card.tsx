import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { changeQuery, type Query, showRange, useAddress } from '../data/address.ts';
import { type ApiRequest, csvOf, type Shown, snapshotsRequest } from '../data/api.ts';
import { useAnswer } from '../data/hooks.ts';
import { type Range, SPANS, type Span, startOf, stepsFor } from '../data/time.ts';
import { AnswerCard, Choice } from './card.tsx';
import { AXES, axisOf } from './chart.tsx';
import { TimeField } from './time-field.tsx';

/** The range that is shown. */
interface ChartRange extends Range {
  /** Null if the ends were chosen. */
  readonly span: Span | null;
  /** The time between two points, and the steps to choose from. */
  readonly every: string;
  readonly steps: readonly string[];
}

interface Props<Answer> {
  readonly title: string;
  readonly here: Shown;
  readonly ask: (query: Query) => ApiRequest<Answer>;
  /** Whether the answer has pages. */
  readonly paged: boolean;
  readonly refresh?: unknown;
  /** Further requests of a range, shown as curl commands. */
  readonly others?: (range: Range) => readonly ApiRequest<unknown>[];
  readonly children: (answer: Answer, range: Range) => ComponentChildren;
}

/** A chart of the points within the range that the address names. */
export function ChartCard<Answer>({ title, here, ask, paged, refresh, others, children }: Props<Answer>): JSX.Element {
  const { query } = useAddress();
  const first = useAnswer(snapshotsRequest({ migration_id: here.migration, order: 'asc', limit: 1 }));
  const oldest = first.answer?.snapshots[0]?.record_time;
  const range = oldest === undefined ? null : rangeOf(query, oldest, here);
  const request = range && ask({ migration_id: here.migration, from: range.from, to: range.to, every: range.every });
  return (
    <AnswerCard
      title={title}
      request={request}
      others={range === null ? [] : others?.(range)}
      refresh={refresh}
      csv={request && csvOf(request, paged)}
      aside={range && <RangeControls range={range} newest={here.newest.record_time} />}
      lines={8}
    >
      {(answer) => range && children(answer, range)}
    </AnswerCard>
  );
}

const isSpan = (name: string): name is Span => name in SPANS;

function rangeOf(query: URLSearchParams, oldest: string, { newest, periodMs }: Shown): ChartRange {
  const ends = { oldest, newest: newest.record_time };
  const [from, to, named = ''] = ['from', 'to', 'span'].map((name) => query.get(name) ?? undefined);
  const span = from === undefined && to === undefined ? (isSpan(named) ? named : 'all') : null;
  const range = { from: from ?? startOf(span ?? 'all', ends), to: to ?? ends.newest };
  const steps = stepsFor(range, periodMs);
  const every = query.get('every');
  return { ...range, span, every: every !== null && steps.includes(every) ? every : steps[0]!, steps };
}

function RangeControls({ range, newest }: { readonly range: ChartRange; readonly newest: string }): JSX.Element {
  const { query } = useAddress();
  const { from, to, every, steps, span } = range;
  const [open, setOpen] = useState(false);
  return (
    <div class={`range ${open ? 'open' : ''}`}>
      <button type="button" class="tool narrow-only" aria-expanded={open} onClick={() => setOpen(!open)}>
        Range
      </button>
      <Choice
        label="Axis"
        of={AXES}
        value={axisOf(query)}
        choose={(axis) => changeQuery({ axis: axis === 'fit' ? undefined : axis })}
      />
      <Choice label="Range" of={SPANS} value={span} choose={(span) => showRange({ span })} />
      <TimeField
        label="From (UTC)"
        value={from}
        newest={newest}
        choose={(time) => showRange({ from: time ?? from, to })}
      />
      <TimeField label="To (UTC)" value={to} newest={newest} choose={(time) => showRange({ from, to: time })} />
      <label>
        <span>Step</span>
        <select value={every} onChange={({ currentTarget }) => changeQuery({ every: currentTarget.value })}>
          {steps.map((step) => (
            <option key={step}>{step}</option>
          ))}
        </select>
      </label>
    </div>
  );
}
