import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Here, Snapshot, Snapshots } from '../data/answers.ts';
import type { ApiRequest } from '../data/ask.ts';
import { subtract } from '../data/decimal.ts';
import type { Range } from '../data/range.ts';
import { snapshotsRequest } from '../data/requests.ts';
import { showTime } from '../data/time.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Amount } from '../parts/amount.tsx';
import { Chart } from '../parts/chart.tsx';
import { ChartCard } from '../parts/chart-card.tsx';
import { Empty } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';

/** The most that one page has; the steps that may be chosen make fewer. */
const POINTS_MAX = 1000;

export function SupplyCard({ here }: { readonly here: Here }): JSX.Element {
  return (
    <ChartCard
      title="Supply over time"
      here={here}
      ask={(query) => snapshotsRequest({ ...query, order: 'asc', limit: POINTS_MAX })}
      paged
      others={(range) => endsOf(here, range)}
    >
      {({ snapshots }, { range, select }) => (
        <>
          <SupplyChange here={here} range={range} />
          <Supply
            snapshots={snapshots}
            newest={range.to === here.newest.record_time ? here.newest : null}
            select={select}
          />
        </>
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
  if (points.length === 0) return <Empty>No snapshot of this step lies in this range.</Empty>;
  return <Chart name="Supply over time" points={points} zoom={select} />;
}

/** The requests for the snapshots that the two ends of a range mean: the newest at or before each. */
function endsOf({ migration }: Here, { from, to }: Range): readonly [ApiRequest<Snapshots>, ApiRequest<Snapshots>] {
  const at = (time: string) => snapshotsRequest({ migration_id: migration, to: time, limit: 1 });
  return [at(from), at(to)];
}

/** The difference of the supply between the two ends, whatever points are plotted between them. */
function SupplyChange({ here, range }: { readonly here: Here; readonly range: Range }): JSX.Element {
  const [atFrom, atTo] = endsOf(here, range);
  const [start, end] = [useAnswer(atFrom), useAnswer(atTo)];
  const [first, last] = [start.answer?.snapshots[0], end.answer?.snapshots[0]];
  const error = start.error ?? end.error;
  return (
    <p class="change faint" aria-busy={start.busy || end.busy}>
      {first && last ? (
        <>
          <Amount of={subtract(last.total_coin, first.total_coin)} signed /> from <Time of={first.record_time} /> to{' '}
          <Time of={last.record_time} />
        </>
      ) : (
        (error?.message ?? (start.answer && !first && `No snapshot is at or before ${showTime(range.from)} UTC.`))
      )}
    </p>
  );
}
