import uPlot from 'uplot';
import { pixels, shortOf, ticksUpTo, unitsOf } from '../data/decimal.ts';

export interface ChartPoint {
  readonly time: string;
  readonly unlocked: string;
  readonly locked: string;
  readonly total: string;
}

export interface ChartListener {
  /** The point under the pointer. */
  readonly hover: (index: number | null) => void;
  /** Two times that the pointer was drawn over. */
  readonly zoom: (from: string, to: string) => void;
}

const HEIGHT = 280;
const AXIS_WIDTH = 64;
const DAY_SECONDS = 86_400;
/** Narrower is a click that slipped. */
const ZOOM_PIXELS_MIN = 8;

/**
 * Draws unlocked over locked coin into the element, in its colours, and again whenever its width or the preferred colours
 * change. Positions are rounded to doubles; the marks of the axis are exact.
 */
export function drawChart(
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
    // A balance holds until the snapshot at which it is another one.
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
      { ...axis, space: 70, values: (_, splits, _axis, _space, step) => splits.map((at) => timeMark(at, step)) },
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

/** The day where marks are days apart, and at midnight; else the time of day. All in UTC. */
function timeMark(seconds: number, step: number): string {
  const [day = '', clock = ''] = timeAt(seconds).split('T');
  return step >= DAY_SECONDS || clock === '00:00:00Z'
    ? day.slice(step >= 300 * DAY_SECONDS ? 0 : 5)
    : clock.slice(0, 5);
}
