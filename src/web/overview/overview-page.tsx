import type { JSX } from 'preact';
import type { Snapshots, Status } from '../data/answers.ts';
import type { Here } from '../data/here.ts';
import { type Live, usePaced } from '../data/live.ts';
import type { Asked } from '../data/use-answer.ts';
import { FeedCard } from './feed-card.tsx';
import { NewestCard } from './newest-card.tsx';
import { SupplyCard } from './supply-card.tsx';
import { TopCard } from './top-card.tsx';

/** While a backlog is read there is a new snapshot every second: the chart and the holders follow less often. */
const PACE_MS = 5_000;

export function OverviewPage({
  here,
  live,
  status,
  newest,
}: {
  readonly here: Here;
  readonly live: Live;
  readonly status: Asked<Status>;
  readonly newest: Asked<Snapshots>;
}): JSX.Element {
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
