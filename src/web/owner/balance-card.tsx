import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { History } from '../data/answers.ts';
import type { Here } from '../data/here.ts';
import { csvOf, historyRequest } from '../data/requests.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Card } from '../parts/card.tsx';
import { Chart } from '../parts/chart.tsx';
import { RangeControls } from '../parts/range-controls.tsx';
import { Answered, Empty } from '../parts/states.tsx';
import { useRange } from '../parts/use-range.ts';

export function BalanceCard({
  party,
  here,
  changed,
}: {
  readonly party: string;
  readonly here: Here;
  /** Changes when what the party has does. */
  readonly changed: string | null;
}): JSX.Element {
  const { zoom, setZoom, select, range } = useRange(here);
  const request =
    range &&
    historyRequest(party, { migration_id: here.migration, from: range.from, to: range.to, every: range.every });
  const asked = useAnswer(request, changed);
  return (
    <Card
      title="Balance over time"
      class="wide"
      requests={[request]}
      csv={request && csvOf(request, false)}
      busy={asked.busy}
      aside={range && <RangeControls zoom={zoom} range={range} change={setZoom} />}
    >
      <Answered asked={asked} lines={8}>
        {(history) => <Balance history={history} select={select} />}
      </Answered>
    </Card>
  );
}

function Balance({
  history,
  select,
}: {
  readonly history: History;
  readonly select: (from: string, to: string) => void;
}): JSX.Element {
  const points = useMemo(
    () =>
      history.points.map((point) => ({
        time: point.record_time,
        unlocked: point.total_unlocked_coin,
        locked: point.total_locked_coin,
        total: point.total_coin_holdings,
      })),
    [history],
  );
  if (points.length === 0) return <Empty>No point of this step lies in this range.</Empty>;
  if (history.points.every(({ contracts }) => contracts === 0))
    return <Empty>This party had no coin at any of these {points.length} snapshots.</Empty>;
  return <Chart name="Balance over time" points={points} zoom={select} />;
}
