import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Snapshot } from '../data/answers.ts';
import { subtract } from '../data/decimal.ts';
import type { Here } from '../data/here.ts';
import { csvOf, snapshotsRequest } from '../data/requests.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Amount } from '../parts/amount.tsx';
import { Card } from '../parts/card.tsx';
import { Chart } from '../parts/chart.tsx';
import { RangeControls } from '../parts/range-controls.tsx';
import { Answered, Empty } from '../parts/states.tsx';
import { useRange } from '../parts/use-range.ts';

/** The most that one page has; the steps that may be chosen make fewer. */
const POINTS_MAX = 1000;

export function SupplyCard({ here }: { readonly here: Here }): JSX.Element {
  const { zoom, setZoom, select, range } = useRange(here);
  const newest = here.newest.record_time;
  const request =
    range &&
    snapshotsRequest({
      migration_id: here.migration,
      from: range.from,
      to: range.to,
      every: range.every,
      order: 'asc',
      limit: POINTS_MAX,
    });
  const asked = useAnswer(request);
  return (
    <Card
      title="Supply over time"
      class="wide supply"
      requests={[request]}
      csv={request && csvOf(request, true)}
      busy={asked.busy}
      aside={range && <RangeControls zoom={zoom} range={range} change={setZoom} />}
    >
      <Answered asked={asked} lines={8}>
        {({ snapshots }) => (
          <Supply snapshots={snapshots} newest={range?.to === newest ? here.newest : null} select={select} />
        )}
      </Answered>
    </Card>
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
