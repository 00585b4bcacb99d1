import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { pixels, shortOf, ticksUpTo, unitsOf } from '../data/decimal.ts';
import { showTime } from '../data/time.ts';
import { amountColumn, type Column, Table } from './table.tsx';
import { Figure, Time } from './values.tsx';

export interface ChartPoint {
  readonly time: string;
  readonly unlocked: string;
  readonly locked: string;
  readonly total: string;
}

interface ChartListener {
  /** The point under the pointer. */
  readonly hover: (index: number | null) => void;
  /** The ends of a range that was drawn with the pointer. */
  readonly zoom: (from: string, to: string) => void;
}

interface ChartProps {
  readonly name: string;
  readonly points: readonly ChartPoint[];
  readonly zoom: ChartListener['zoom'];
}

const PAGE_POINTS = 20;

/**
 * Unlocked and locked coin over time, stacked. The line below has the exact amounts of the point under the pointer, or of the
 * point reached by the arrow keys: to a screen reader the chart is a slider over its points.
 */
export function Chart({ name, points, zoom }: ChartProps): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [index, setIndex] = useState<number | null>(null);
  const last = points.length - 1;
  const shown = Math.min(index ?? last, last);
  const point = points[shown]!;
  useEffect(() => {
    const drawn = drawChart(frame.current!, points, { hover: setIndex, zoom });
    plot.current = drawn.plot;
    return drawn.end;
  }, [points, zoom]);
  const move = (to: number): void => {
    const reached = Math.max(0, Math.min(last, to));
    setIndex(reached);
    plot.current?.setCursor({ left: plot.current.valToPos(Date.parse(points[reached]!.time) / 1000, 'x'), top: 0 });
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
        aria-valuetext={`${showTime(point.time)} UTC: unlocked ${point.unlocked}, locked ${point.locked}, total ${point.total}`}
        onKeyDown={(event) => {
          const target = targets[event.key];
          if (target === undefined) return;
          event.preventDefault();
          move(target);
        }}
      />
      <dl class="readout">
        <div>
          <dt class="hidden">Time</dt>
          <dd>
            <Time of={point.time} />
          </dd>
        </div>
        <Figure name="Unlocked" swatch="unlocked" amount={point.unlocked} />
        <Figure name="Locked" swatch="locked" amount={point.locked} />
        <Figure name="Total" amount={point.total} />
      </dl>
      <PointsTable name={name} points={points} />
    </div>
  );
}

const COLUMNS: readonly Column<ChartPoint>[] = [
  { name: 'Time', cell: ({ time }) => <Time of={time} /> },
  amountColumn('Unlocked', ({ unlocked }) => unlocked),
  amountColumn('Locked', ({ locked }) => locked),
  amountColumn('Total', ({ total }) => total),
];

function PointsTable({ name, points }: Pick<ChartProps, 'name' | 'points'>): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Show as table</summary>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <section class="scroll" tabIndex={0} aria-label={`${name} as a table`}>
          <Table caption={name} rows={points} keyOf={({ time }) => time} columns={COLUMNS} />
        </section>
      )}
    </details>
  );
}

const HEIGHT = 280;
const AXIS_WIDTH = 64;
const DAY_SECONDS = 86_400;
/** A narrower selection is a click. */
const ZOOM_PIXELS_MIN = 8;

/**
 * Draws unlocked over locked coin into the element, and again when its width or the preferred colours change. Positions are
 * rounded to doubles; the ticks of the axis are exact.
 */
function drawChart(
  frame: HTMLElement,
  points: readonly ChartPoint[],
  listener: ChartListener,
): { readonly plot: uPlot; readonly end: () => void } {
  const data: uPlot.AlignedData = [
    points.map(({ time }) => Date.parse(time) / 1000),
    points.map(({ total }) => pixels(total)),
    points.map(({ locked }) => pixels(locked)),
  ];
  const largest = points.map(({ total }) => unitsOf(total)).reduce((a, b) => (a > b ? a : b), 0n);
  const plot = new uPlot(options(frame, ticksUpTo(largest), listener), data, frame);
  const sized = new ResizeObserver(() => plot.setSize({ width: frame.clientWidth, height: HEIGHT }));
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const redraw = (): void => plot.redraw(false);
  sized.observe(frame);
  dark.addEventListener('change', redraw);
  return {
    plot,
    end: () => {
      sized.disconnect();
      dark.removeEventListener('change', redraw);
      plot.destroy();
    },
  };
}

function options(frame: HTMLElement, ticks: readonly bigint[], { hover, zoom }: ChartListener): uPlot.Options {
  const colour = (name: string) => () => getComputedStyle(frame).getPropertyValue(`--${name}`).trim();
  const lines = { stroke: colour('line'), width: 1 };
  const positions = ticks.map((tick) => Number(tick) / 1e10);
  const axis = {
    stroke: colour('faint'),
    grid: lines,
    ticks: { ...lines, size: 4 },
    font: '12px system-ui, sans-serif',
  };
  const area = (name: string): uPlot.Series => ({
    stroke: colour(name),
    fill: colour(`${name}-area`),
    width: 2,
    points: { show: false },
    // A balance holds until the next snapshot.
    paths: uPlot.paths.stepped!({ align: 1 }),
  });
  return {
    width: frame.clientWidth,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false, setScale: false } },
    scales: { y: { range: [0, positions.at(-1)!] } },
    series: [{}, area('unlocked'), area('locked')],
    axes: [
      { ...axis, space: 70, values: (_, splits, _axis, _space, step) => splits.map((at) => timeTick(at, step)) },
      { ...axis, size: AXIS_WIDTH, splits: () => positions, values: () => ticks.map(shortOf) },
    ],
    hooks: {
      setCursor: [({ cursor }) => hover(cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (width < ZOOM_PIXELS_MIN) return;
          zoom(timeAt(plot.posToVal(left, 'x')), timeAt(plot.posToVal(left + width, 'x')));
        },
      ],
    },
  };
}

function timeAt(seconds: number): string {
  return new Date(Math.round(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}

/** The day if ticks are days apart, and at midnight; else the time of day. All in UTC. */
function timeTick(seconds: number, step: number): string {
  const [day = '', clock = ''] = timeAt(seconds).split('T');
  return step >= DAY_SECONDS || clock === '00:00:00Z'
    ? day.slice(step >= 300 * DAY_SECONDS ? 0 : 5)
    : clock.slice(0, 5);
}
