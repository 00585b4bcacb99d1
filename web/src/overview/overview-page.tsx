import type { JSX } from 'preact';
import type { Here, Snapshots, Status } from '../data/answers.ts';
import { usePaced } from '../data/live.ts';
import type { Live } from '../data/stream.ts';
import type { Asked } from '../data/use-answer.ts';
import { FeedCard } from './feed-card.tsx';
import { NewestCard } from './newest-card.tsx';
import { SupplyCard } from './supply-card.tsx';
import { TopCard } from './top-card.tsx';

/** While a backlog is read there is a new snapshot every second: the chart and the holders follow less often. */
const PACE_MS = 5_000;

interface Props {
  readonly here: Here;
  readonly live: Live;
  readonly status: Asked<Status>;
  readonly newest: Asked<Snapshots>;
}

export function OverviewPage({ here, live, status, newest }: Props): JSX.Element {
  const paced = usePaced(here, PACE_MS);
  return (
    <div class="grid">
      <NewestCard here={here} asked={newest} />
      <FeedCard live={live} status={status} />
      <SupplyCard here={paced} />
      <TopCard here={paced} />
    </div>
  );
}
