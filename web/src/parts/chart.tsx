import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { showTime } from '../data/time.ts';
import { Amount } from './amount.tsx';
import { type ChartListener, type ChartPoint, drawChart } from './draw-chart.ts';
import { Table } from './table.tsx';
import { Time } from './time.tsx';

const PAGE_POINTS = 20;

/**
 * Unlocked and locked coin over time, one on the other. The line below it has the exact amounts of the point under the pointer,
 * or of the one that the arrow keys have reached: to those who do not see it, the chart is a slider over its points.
 */
export function Chart({
  name,
  points,
  zoom,
}: {
  readonly name: string;
  readonly points: readonly ChartPoint[];
  readonly zoom: ChartListener['zoom'];
}): JSX.Element {
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
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => move(shown - 1),
    ArrowRight: () => move(shown + 1),
    PageDown: () => move(shown - PAGE_POINTS),
    PageUp: () => move(shown + PAGE_POINTS),
    Home: () => move(0),
    End: () => move(last),
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
        aria-valuetext={`${showTime(point.time)} UTC: unlocked ${point.unlocked}, locked ${point.locked}, together ${point.total}`}
        onKeyDown={(event) => {
          const act = keys[event.key];
          if (act === undefined) return;
          event.preventDefault();
          act();
        }}
      />
      <dl class="readout">
        <div>
          <dt class="hidden">Time</dt>
          <dd>
            <Time of={point.time} />
          </dd>
        </div>
        <Reading name="Unlocked" swatch="unlocked" amount={point.unlocked} />
        <Reading name="Locked" swatch="locked" amount={point.locked} />
        <Reading name="Together" amount={point.total} />
      </dl>
      <PointsTable name={name} points={points} />
    </div>
  );
}

function Reading({ name, swatch, amount }: { name: string; swatch?: string; amount: string }): JSX.Element {
  return (
    <div>
      <dt>
        {swatch && <span class={`swatch ${swatch}`} aria-hidden="true" />}
        {name}
      </dt>
      <dd>
        <Amount of={amount} />
      </dd>
    </div>
  );
}

function PointsTable({ name, points }: { readonly name: string; readonly points: readonly ChartPoint[] }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The same as a table</summary>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <section class="scroll" tabIndex={0} aria-label={`${name} as a table`}>
          <Table
            caption={name}
            rows={points}
            keyOf={({ time }) => time}
            columns={[
              { name: 'Time', cell: ({ time }) => <Time of={time} /> },
              { name: 'Unlocked', number: true, cell: ({ unlocked }) => <Amount of={unlocked} /> },
              { name: 'Locked', number: true, cell: ({ locked }) => <Amount of={locked} /> },
              { name: 'Together', number: true, cell: ({ total }) => <Amount of={total} /> },
            ]}
          />
        </section>
      )}
    </details>
  );
}
