import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { changeQuery, type Query, showRange, useAddress } from '../data/address.ts';
import { type ApiRequest, csvOf, type Shown, snapshotsRequest } from '../data/api.ts';
import { subtract } from '../data/decimal.ts';
import { useAnswer } from '../data/hooks.ts';
import {
  CHANGE_STEPS,
  DAY_MS,
  durationMs,
  instant,
  type Range,
  SPANS,
  type Span,
  startOf,
  stepsFor,
} from '../data/time.ts';
import { AnswerCard, Choice, Empty } from './card.tsx';
import { AXES, axisOf, Chart, type ChartPoint } from './chart.tsx';
import { TimeField } from './time-field.tsx';

const VIEWS = { total: 'Total', change: 'Change' } as const;
/** By default there are not more bars. */
const BARS = 200;

/** The range that is shown. */
interface ChartRange extends Range {
  /** Null if the ends were chosen. */
  readonly span: Span | null;
  /** The time between two points, and the steps to choose from. */
  readonly every: string;
  readonly steps: readonly string[];
  /** Whether changes between the points are shown, and not the points. */
  readonly isOfChanges: boolean;
  /** Where the points begin: that of a change begins with a step, or with the oldest snapshot. */
  readonly start: string;
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
  readonly pointsOf: (answer: Answer, range: Range) => readonly ChartPoint[];
  /** Shown above the chart. */
  readonly above?: (range: Range) => ComponentChildren;
}

/** A chart of the points within the range that the address names, or of the changes from one to the next. */
export function ChartCard<Answer>(props: Props<Answer>): JSX.Element {
  const { title, here, ask, paged, refresh, others, above } = props;
  const { query } = useAddress();
  const first = useAnswer(snapshotsRequest({ migration_id: here.migration, order: 'asc', limit: 1 }));
  const oldest = first.answer?.snapshots[0]?.record_time;
  const range = oldest === undefined ? null : rangeOf(query, oldest, here);
  const of = { migration_id: here.migration };
  // It lies between two steps, and so is in no list of them.
  const isOpened = range?.isOfChanges === true && range.start === oldest;
  const opening = useAnswer(isOpened ? ask({ ...of, from: oldest, to: oldest }) : null).answer;
  const request =
    range && (!isOpened || opening !== null)
      ? ask({ ...of, from: range.start, to: range.to, every: range.every })
      : null;
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
      {(answer) =>
        range && (
          <>
            {above?.(range)}
            <Drawing {...props} {...{ answer, range }} opening={isOpened ? opening : null} />
          </>
        )
      }
    </AnswerCard>
  );
}

interface DrawingProps<Answer> extends Pick<Props<Answer>, 'title' | 'here' | 'pointsOf'> {
  readonly answer: Answer;
  readonly range: ChartRange;
  /** The oldest snapshot, where changes begin with it. */
  readonly opening: Answer | null;
}

function Drawing<Answer>({ title, here, pointsOf, answer, opening, range }: DrawingProps<Answer>): JSX.Element {
  const { isOfChanges, to, every } = range;
  const points = useMemo(() => {
    const opened = opening === null ? [] : pointsOf(opening, { from: '', to: '' });
    const listed = pointsOf(answer, range).filter(({ record_time }) => record_time !== opened[0]?.record_time);
    return isOfChanges ? changesBetween([...opened, ...listed]) : listed;
  }, [answer, opening, isOfChanges, to]);
  if (points.length === 0)
    return <Empty>{isOfChanges ? 'This range has no two snapshots.' : 'No snapshot lies in this range.'}</Empty>;
  if (!isOfChanges && points.every(({ total }) => /^[0.]+$/.test(total)))
    return <Empty>Nothing at any of these {points.length} snapshots.</Empty>;
  return <Chart name={title} points={points} at={here.at} stepMs={isOfChanges ? durationMs(every) : null} />;
}

function changesBetween(points: readonly ChartPoint[]): readonly ChartPoint[] {
  return points.slice(1).map(({ record_time, ...after }, index) => {
    const before = points[index]!;
    return {
      record_time,
      since: before.record_time,
      unlocked: subtract(after.unlocked, before.unlocked),
      locked: subtract(after.locked, before.locked),
      total: subtract(after.total, before.total),
    };
  });
}

const isSpan = (name: string): name is Span => name in SPANS;

function rangeOf(query: URLSearchParams, oldest: string, { newest, periodMs }: Shown): ChartRange {
  const ends = { oldest, newest: newest.record_time };
  const [from, to, named = ''] = ['from', 'to', 'span'].map((name) => query.get(name) ?? undefined);
  const span = from === undefined && to === undefined ? (isSpan(named) ? named : 'all') : null;
  const range = { from: from ?? startOf(span ?? 'all', ends), to: to ?? ends.newest };
  const isOfChanges = query.get('chart') === 'change';
  const steps = isOfChanges ? stepsFor(range, DAY_MS, CHANGE_STEPS) : stepsFor(range, periodMs);
  const length = Date.parse(range.to) - Date.parse(range.from);
  const initial = isOfChanges ? (steps.find((step) => length / durationMs(step) <= BARS) ?? steps.at(-1)!) : steps[0]!;
  const asked = query.get('every');
  const every = asked !== null && steps.includes(asked) ? asked : initial;
  const step = durationMs(every);
  const begin = Math.floor(Date.parse(range.from) / step) * step;
  // What is no time is asked for as it is given: the service says what is wrong.
  const isGiven = !isOfChanges || Number.isNaN(begin);
  const start = isGiven ? range.from : begin < Date.parse(oldest) ? oldest : instant(begin);
  return { ...range, span, every, steps, isOfChanges, start };
}

function RangeControls({ range, newest }: { readonly range: ChartRange; readonly newest: string }): JSX.Element {
  const { query } = useAddress();
  const { from, to, every, steps, span, isOfChanges } = range;
  const [open, setOpen] = useState(false);
  return (
    <div class={`range ${open ? 'open' : ''}`}>
      <button type="button" class="tool narrow-only" aria-expanded={open} onClick={() => setOpen(!open)}>
        Range
      </button>
      <Choice
        label="View"
        of={VIEWS}
        value={isOfChanges ? 'change' : 'total'}
        choose={(view) => changeQuery({ chart: view === 'change' ? view : undefined, every: undefined })}
      />
      {!isOfChanges && (
        <Choice
          label="Axis"
          of={AXES}
          value={axisOf(query)}
          choose={(axis) => changeQuery({ axis: axis === 'fit' ? undefined : axis })}
        />
      )}
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
