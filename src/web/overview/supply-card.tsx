import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Here, Snapshot } from '../data/answers.ts';
import { subtract } from '../data/decimal.ts';
import { snapshotsRequest } from '../data/requests.ts';
import { Amount } from '../parts/amount.tsx';
import { Chart } from '../parts/chart.tsx';
import { ChartCard } from '../parts/chart-card.tsx';
import { Empty } from '../parts/states.tsx';

/** The most that one page has; the steps that may be chosen make fewer. */
const POINTS_MAX = 1000;

export function SupplyCard({ here }: { readonly here: Here }): JSX.Element {
  return (
    <ChartCard
      title="Supply over time"
      here={here}
      ask={(query) => snapshotsRequest({ ...query, order: 'asc', limit: POINTS_MAX })}
      paged
    >
      {({ snapshots }, { to, select }) => (
        <Supply snapshots={snapshots} newest={to === here.newest.record_time ? here.newest : null} select={select} />
      )}
    </ChartCard>
  );
}

function Supply({
  snapshots,
  newest,
  select,
}: {
  readonly snapshots: readonly Snapshot[];
  /** The end of the range, which may lie between two points. */
  readonly newest: Snapshot | null;
  readonly select: (from: string, to: string) => void;
}): JSX.Element {
  const points = useMemo(() => {
    const isLast = newest === null || snapshots.at(-1)?.record_time === newest.record_time;
    return (isLast ? snapshots : [...snapshots, newest]).map((snapshot) => ({
      time: snapshot.record_time,
      unlocked: snapshot.total_unlocked_coin,
      locked: snapshot.total_locked_coin,
      total: snapshot.total_coin,
    }));
  }, [snapshots, newest]);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return <Empty>No snapshot lies in this range.</Empty>;
  return (
    <>
      <p class="faint">
        <Amount of={subtract(last.total, first.total)} signed /> over this range
      </p>
      <Chart name="Supply over time" points={points} zoom={select} />
    </>
  );
}
