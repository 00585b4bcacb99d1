import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { showAt, showRange, useAddress } from '../data/address.ts';
import { percentOf, pixels, shortOf, ticksBetween, unitsOf } from '../data/decimal.ts';
import { SCHEME_EVENT } from '../data/remembered.ts';
import { instant, showTime } from '../data/time.ts';
import { amountColumn, type Column, changeColumn, Table } from './table.tsx';
import { Amount, Figure, Time } from './values.tsx';

export interface ChartPoint {
  readonly record_time: string;
  /** Of a change: the amounts are what changed since then. */
  readonly since?: string;
  readonly unlocked: string;
  readonly locked: string;
  readonly total: string;
}

interface ChartListener {
  /** The point under the pointer. */
  readonly hover: (index: number | null) => void;
  /** The point that was clicked. */
  readonly click: (index: number) => void;
  /** The first and the last point of a range that was drawn. */
  readonly zoom: (first: number, last: number) => void;
}

interface ChartProps {
  readonly name: string;
  readonly points: readonly ChartPoint[];
  /** The chosen time, which has a mark. */
  readonly at: string | null;
  /** Of changes, which are bars: the time of each, of which the first and the last may have had less. Null: the points are a line. */
  readonly stepMs: number | null;
}

/** Fit: the total alone, between its least and its largest amount. */
export const AXES = { fit: 'Fit', zero: 'Zero' } as const;
type Axis = keyof typeof AXES;

export function axisOf(query: URLSearchParams): Axis {
  return query.get('axis') === 'zero' ? 'zero' : 'fit';
}

const PAGE_POINTS = 20;

/**
 * Coin over time. The line below has the exact amounts of the point under the pointer, or of the point reached by the arrow
 * keys: to a screen reader the chart is a slider over its points. A click, or Enter, shows all pages at a point; a range drawn
 * with the pointer is shown alone, until a double click.
 */
export function Chart({ name, points, at, stepMs }: ChartProps): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [index, setIndex] = useState<number | null>(null);
  const [isPointed, setPointed] = useState(false);
  const axis = axisOf(useAddress().query);
  const last = points.length - 1;
  const shown = Math.min(index ?? last, last);
  const point = points[shown]!;
  useEffect(() => {
    const hover = (found: number | null): void => {
      setIndex(found);
      setPointed(found !== null);
    };
    const click = (index: number): void => showAt(points[index]!.record_time);
    const zoom = (first: number, last: number): void => {
      const { since, record_time } = points[first]!;
      if (first < last) showRange({ from: since ?? record_time, to: points[last]!.record_time });
    };
    const drawn = drawChart(frame.current!, { points, axis, at, stepMs }, { hover, click, zoom });
    plot.current = drawn.plot;
    return drawn.end;
  }, [points, axis, at, stepMs]);
  const leftOf = (index: number): number => plot.current?.valToPos(plot.current.data[0][index]!, 'x') ?? 0;
  const left = isPointed ? leftOf(shown) : 0;
  const isChange = stepMs !== null;
  const amount = (of: string): JSX.Element => <Amount {...{ of }} unit signed={isChange} />;
  const isRight = left > (plot.current?.over.clientWidth ?? 0) / 2;
  const move = (to: number): void => {
    const reached = Math.max(0, Math.min(last, to));
    plot.current?.setCursor({ left: leftOf(reached), top: 0 });
    setIndex(reached);
  };
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: shown - 1,
    ArrowRight: shown + 1,
    PageDown: shown - PAGE_POINTS,
    PageUp: shown + PAGE_POINTS,
    Home: 0,
    End: last,
  };
  return (
    <div class="chart">
      <div
        class="chart-frame"
        ref={frame}
        role="slider"
        tabIndex={0}
        aria-label={`${name}: the arrow keys move along it`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={shown}
        aria-valuetext={`${timesOf(point)} UTC: unlocked ${point.unlocked}, locked ${point.locked}, total ${point.total}`}
        onKeyDown={(event) => {
          if (event.key === 'Enter') showAt(point.record_time);
          const target = targets[event.key];
          if (target === undefined) return;
          event.preventDefault();
          move(target);
        }}
      >
        {isPointed && (
          <div
            class="tip"
            aria-hidden="true"
            style={{
              [isRight ? 'right' : 'left']:
                `${isRight ? frame.current!.clientWidth - left - axisWidth(plot.current) + 12 : left + axisWidth(plot.current) + 12}px`,
            }}
          >
            <b>{timesOf(point)}</b>
            <Amount of={point.total} unit gain={isChange} />
            <span class="faint">
              <span class="swatch locked" />{' '}
              {isChange ? amount(point.locked) : `${percentOf(point.locked, point.total)} %`} locked
            </span>
          </div>
        )}
      </div>
      <dl class="readout">
        <div>
          <dt class="hidden">Time</dt>
          <dd>
            {point.since !== undefined && (
              <>
                <Time of={point.since} /> –{' '}
              </>
            )}
            <Time of={point.record_time} />
          </dd>
        </div>
        <Figure name="Unlocked" swatch="unlocked">
          {amount(point.unlocked)}
        </Figure>
        <Figure name="Locked" swatch="locked">
          {amount(point.locked)}
        </Figure>
        <Figure name="Total" swatch={isChange ? undefined : 'total'}>
          <Amount of={point.total} unit gain={isChange} />
        </Figure>
      </dl>
      <PointsTable name={name} points={points} columns={isChange ? CHANGES : COLUMNS} />
    </div>
  );
}

function timesOf({ since, record_time }: ChartPoint): string {
  return `${since === undefined ? '' : `${showTime(since)} – `}${showTime(record_time)}`;
}

const COLUMNS: readonly Column<ChartPoint>[] = [
  { name: 'Time', cell: ({ record_time }) => <Time of={record_time} /> },
  amountColumn('Unlocked', ({ unlocked }) => unlocked),
  amountColumn('Locked', ({ locked }) => locked),
  amountColumn('Total', ({ total }) => total),
];

const CHANGES: readonly Column<ChartPoint>[] = [
  { name: 'From', cell: ({ since }) => <Time of={since!} /> },
  { name: 'To', cell: ({ record_time }) => <Time of={record_time} /> },
  changeColumn('Unlocked change', ({ unlocked }) => unlocked),
  changeColumn('Locked change', ({ locked }) => locked),
  changeColumn('Change', ({ total }) => total, { gain: true }),
];

interface PointsProps extends Pick<ChartProps, 'name' | 'points'> {
  readonly columns: readonly Column<ChartPoint>[];
}

function PointsTable({ name, points, columns }: PointsProps): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Show as table</summary>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <section class="scroll" tabIndex={0} aria-label={`${name} as a table`}>
          <Table caption={name} rows={points} keyOf={({ record_time }) => record_time} columns={columns} />
        </section>
      )}
    </details>
  );
}

const HEIGHT = 280;
const DAY_SECONDS = 86_400;
/** A narrower selection is a click. */
const ZOOM_PIXELS_MIN = 8;
/** Waited for a second click, which shows the whole range. */
const DOUBLE_CLICK_MS = 250;

/** Where the area of the plot begins in its frame. */
function axisWidth(plot: uPlot | null): number {
  return plot === null ? 0 : plot.over.offsetLeft;
}

interface Drawing extends Omit<ChartProps, 'name'> {
  readonly axis: Axis;
}

/**
 * Draws into the element, and again when its width or the colours change. Positions are rounded to doubles; the ticks of the
 * axis are exact.
 */
function drawChart(
  frame: HTMLElement,
  { points, axis, at, stepMs }: Drawing,
  listener: ChartListener,
): { readonly plot: uPlot; readonly end: () => void } {
  const seconds = points.map((_, index) => secondsOf(points, index, stepMs));
  const totals = points.map(({ total }) => unitsOf(total));
  const [largest, least] = [totals.reduce((a, b) => (a > b ? a : b)), totals.reduce((a, b) => (a < b ? a : b))];
  const heights = points.map(({ total }) => pixels(total));
  const data: uPlot.AlignedData =
    stepMs === null
      ? [seconds, heights, points.map(({ locked }) => pixels(locked))]
      : [seconds, heights.map((each) => (each < 0 ? null : each)), heights.map((each) => (each < 0 ? each : null))];
  // What never changed has no range to fit.
  const withZero = stepMs !== null || axis === 'zero' || least === largest;
  const ticks = ticksBetween(withZero && least > 0n ? 0n : least, withZero && largest < 0n ? 0n : largest);
  const ends = [seconds[0]!, seconds.at(-1)!] as const;
  const plot = new uPlot(options(frame, { ticks, ends, axis, at, stepMs }, listener), data, frame);
  const sized = new ResizeObserver(() => plot.setSize({ width: frame.clientWidth, height: HEIGHT }));
  const redraw = (): void => plot.redraw(false);
  sized.observe(frame);
  addEventListener(SCHEME_EVENT, redraw);
  return {
    plot,
    end: () => {
      sized.disconnect();
      removeEventListener(SCHEME_EVENT, redraw);
      plot.destroy();
    },
  };
}

/** Where a point is; a bar is in the middle of its time, also one whose time has just begun. */
function secondsOf(points: readonly ChartPoint[], index: number, stepMs: number | null): number {
  const { record_time, since } = points[index]!;
  if (stepMs === null) return Date.parse(record_time) / 1000;
  const isLast = index === points.length - 1;
  return (isLast ? Date.parse(since!) + stepMs / 2 : Date.parse(record_time) - stepMs / 2) / 1000;
}

interface Look extends Pick<Drawing, 'axis' | 'at' | 'stepMs'> {
  readonly ticks: readonly bigint[];
  /** Of the first and the last point, in seconds. */
  readonly ends: readonly [number, number];
}

function options(
  frame: HTMLElement,
  { ticks, ends, axis, at, stepMs }: Look,
  { hover, click, zoom }: ChartListener,
): uPlot.Options {
  // A colour depends on the scheme, which only a property of an element resolves.
  const colourOf = (name: string): string => {
    frame.style.setProperty('outline-color', `var(--${name})`);
    return getComputedStyle(frame).outlineColor;
  };
  const colour = (name: string) => () => colourOf(name);
  const lines = { stroke: colour('line'), width: 1 };
  const positions = ticks.map((tick) => Number(tick) / 1e10);
  const labels = ticks.map(shortOf);
  const common = {
    stroke: colour('faint'),
    grid: lines,
    ticks: { ...lines, size: 4 },
    font: '12px system-ui, sans-serif',
  };
  const series = (name: string, isFilled: boolean): uPlot.Series => ({
    stroke: colour(name),
    ...(isFilled && { fill: colour(`${name}-area`) }),
    width: 2,
    points: { show: false },
    // A balance holds until the next snapshot.
    paths: uPlot.paths.stepped!({ align: 1 }),
  });
  const bars = (name: string): uPlot.Series => ({
    fill: colour(name),
    width: 0,
    points: { show: false },
    paths: uPlot.paths.bars!({ size: [0.8, 48] }),
  });
  const lineOrBars =
    stepMs === null
      ? [series('total', axis === 'zero'), { ...series('locked', true), show: axis === 'zero' }]
      : [bars('good'), bars('bad')];
  const half = (stepMs ?? 0) / 2_000;
  return {
    width: frame.clientWidth,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    padding: [12, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false, setScale: false } },
    scales: {
      x: stepMs === null ? {} : { range: [ends[0] - half, ends[1] + half] },
      y: { range: [positions[0]!, positions.at(-1)!] },
    },
    series: [{}, ...lineOrBars],
    axes: [
      { ...common, space: 76, size: 42, values: (_, splits, _axis, _space, step) => timeTicks(splits, step) },
      {
        ...common,
        // Half of the first day, too, which stands below its left end.
        size: 16 + 7 * Math.max(3, ...labels.map(({ length }) => length)),
        splits: () => positions,
        values: () => labels,
      },
    ],
    hooks: {
      ready: [(plot) => listen(plot, click)],
      setCursor: [({ cursor }) => hover(cursor.left! < 0 ? null : (cursor.idx ?? null))],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (width < ZOOM_PIXELS_MIN) return;
          zoom(plot.posToIdx(left), plot.posToIdx(left + width));
        },
      ],
      draw: [(plot) => at !== null && markTime(plot, Date.parse(at) / 1000, colourOf('accent'))],
    },
  };
}

/** A click that draws no range chooses the point under it; a double click shows the whole range. */
function listen({ over, cursor }: uPlot, click: (index: number) => void): void {
  let downAt = 0;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  over.addEventListener('pointerdown', ({ clientX }) => {
    downAt = clientX;
  });
  over.addEventListener('click', ({ clientX }) => {
    const index = cursor.idx ?? null;
    clearTimeout(waiting);
    if (index === null || Math.abs(clientX - downAt) >= ZOOM_PIXELS_MIN) return;
    waiting = setTimeout(() => click(index), DOUBLE_CLICK_MS);
  });
  over.addEventListener('dblclick', () => {
    clearTimeout(waiting);
    showRange({});
  });
}

/** A line through the chart. */
function markTime({ ctx, bbox, valToPos }: uPlot, seconds: number, colour: string): void {
  const x = Math.round(valToPos(seconds, 'x', true));
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.fillStyle = colour;
  ctx.fillRect(x - 1, bbox.top, 2, bbox.height);
}

/** The time of day or the day, and below it, where it changes, the day or the year. All in UTC. */
function timeTicks(splits: readonly number[], step: number): string[] {
  let shown = '';
  return splits.map((seconds) => {
    const [day = '', clock = ''] = instant(seconds * 1000).split('T');
    const [upper, lower] = step >= DAY_SECONDS ? [day.slice(5), day.slice(0, 4)] : [clock.slice(0, 5), day];
    if (lower === shown) return upper;
    shown = lower;
    return `${upper}\n${lower}`;
  });
}
