import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Here, History } from '../data/answers.ts';
import { historyRequest } from '../data/requests.ts';
import { Chart } from '../parts/chart.tsx';
import { ChartCard } from '../parts/chart-card.tsx';
import { Empty } from '../parts/states.tsx';

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
  return (
    <ChartCard
      title="Balance over time"
      here={here}
      ask={(query) => historyRequest(party, query)}
      paged={false}
      refresh={changed}
    >
      {(history, { select }) => <Balance history={history} select={select} />}
    </ChartCard>
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
  if (points.length === 0) return <Empty>No snapshot lies in this range.</Empty>;
  if (history.points.every(({ contracts }) => contracts === 0))
    return <Empty>This party had no coin at any of these {points.length} snapshots.</Empty>;
  return <Chart name="Balance over time" points={points} zoom={select} />;
}
