import type { ComponentChildren, JSX } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import type { Query } from '../data/address.ts';
import { type ApiRequest, csvOf, type Shown, snapshotsRequest } from '../data/api.ts';
import { useAnswer } from '../data/hooks.ts';
import { fieldOf, type Range, SPANS, type Span, startOf, stepsFor, timeOfField } from '../data/time.ts';
import { AnswerCard, Choice } from './card.tsx';

/** The range that the user chose. */
interface Chosen {
  readonly span: Span | Range;
  /** Null: the smallest step that fits. */
  readonly every: string | null;
}

/** The range that is shown. */
interface ChartRange extends Range {
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
  readonly children: (answer: Answer, shown: { readonly range: Range; readonly zoom: SetRange }) => ComponentChildren;
}

type SetRange = (from: string, to: string) => void;

/** A chart of the points within a range that the user chooses. */
export function ChartCard<Answer>({ title, here, ask, paged, refresh, others, children }: Props<Answer>): JSX.Element {
  const [chosen, choose] = useState<Chosen>({ span: 'all', every: null });
  const zoom = useCallback((from: string, to: string) => choose({ span: { from, to }, every: null }), []);
  const first = useAnswer(snapshotsRequest({ migration_id: here.migration, order: 'asc', limit: 1 }));
  const oldest = first.answer?.snapshots[0]?.record_time;
  const range = oldest === undefined ? null : rangeOf(chosen, oldest, here);
  const request = range && ask({ migration_id: here.migration, from: range.from, to: range.to, every: range.every });
  return (
    <AnswerCard
      title={title}
      request={request}
      others={range === null ? [] : others?.(range)}
      refresh={refresh}
      csv={request && csvOf(request, paged)}
      aside={range && <RangeControls chosen={chosen} range={range} choose={choose} />}
      lines={8}
    >
      {(answer) => range && children(answer, { range, zoom })}
    </AnswerCard>
  );
}

function rangeOf({ span, every }: Chosen, oldest: string, { newest, periodMs }: Shown): ChartRange {
  const ends = { oldest, newest: newest.record_time };
  const range = typeof span === 'object' ? span : { from: startOf(span, ends), to: ends.newest };
  const steps = stepsFor(range, periodMs);
  return { ...range, every: every !== null && steps.includes(every) ? every : steps[0]!, steps };
}

interface RangeControlsProps {
  readonly chosen: Chosen;
  readonly range: ChartRange;
  readonly choose: (chosen: Chosen) => void;
}

function RangeControls({ chosen, range, choose }: RangeControlsProps): JSX.Element {
  const { from, to, every, steps } = range;
  const timeField = (name: string, value: string, set: (time: string) => void): JSX.Element => (
    <label>
      <span>{name} (UTC)</span>
      <input
        type="datetime-local"
        value={fieldOf(value).slice(0, 16)}
        onChange={({ currentTarget }) => currentTarget.value !== '' && set(timeOfField(currentTarget.value))}
      />
    </label>
  );
  return (
    <div class="range">
      <Choice
        label="Range"
        of={SPANS}
        value={typeof chosen.span === 'object' ? null : chosen.span}
        choose={(span) => choose({ ...chosen, span })}
      />
      {timeField('From', from, (time) => choose({ ...chosen, span: { from: time, to } }))}
      {timeField('To', to, (time) => choose({ ...chosen, span: { from, to: time } }))}
      <label>
        <span>Step</span>
        <select value={every} onChange={({ currentTarget }) => choose({ ...chosen, every: currentTarget.value })}>
          {steps.map((step) => (
            <option key={step}>{step}</option>
          ))}
        </select>
      </label>
    </div>
  );
}
