import type { JSX } from 'preact';
import type { Here, Snapshots } from '../data/answers.ts';
import { percentOf, pixels } from '../data/decimal.ts';
import { useNow } from '../data/live.ts';
import { snapshotsRequest } from '../data/requests.ts';
import { ageOf } from '../data/time.ts';
import type { Asked } from '../data/use-answer.ts';
import { Card } from '../parts/card.tsx';
import { Digest } from '../parts/digest.tsx';
import { Figure } from '../parts/figure.tsx';
import { Time } from '../parts/time.tsx';

const AGE_EVERY_MS = 1_000;

export function NewestCard({ here, asked }: { readonly here: Here; readonly asked: Asked<Snapshots> }): JSX.Element {
  const now = useNow(AGE_EVERY_MS);
  const { record_time, forced, owners, contracts, total_unlocked_coin, total_locked_coin, total_coin, digest } =
    here.newest;
  const locked = percentOf(total_locked_coin, total_coin);
  return (
    <Card
      title="Newest snapshot"
      class="newest"
      requests={[snapshotsRequest({ migration_id: here.migration, limit: 1 })]}
      aside={
        <span class="faint">
          <Time of={record_time} /> · {ageOf(record_time, now)}
          {forced && ' · forced'}
        </span>
      }
    >
      {asked.error !== null && <p class="stale">Not refreshed: {asked.error.message}</p>}
      <dl class="figures">
        <Figure name="Total supply" large amount={total_coin} />
        <Figure name="Unlocked" swatch="unlocked" amount={total_unlocked_coin} />
        <Figure name="Locked" swatch="locked" amount={total_locked_coin}>
          <span class="faint"> {locked} %</span>
        </Figure>
        <Figure name="Owners with coin" amount={String(owners)} />
        <Figure name="Coin contracts" amount={String(contracts)} />
        <Figure name="Digest" wide>
          <Digest of={digest} />
        </Figure>
      </dl>
      <LockedBar percent={locked} part={pixels(locked)} />
    </Card>
  );
}

function LockedBar({ percent, part }: { readonly percent: string; readonly part: number }): JSX.Element {
  return (
    <div class="bar" role="img" aria-label={`${percent} % of the supply is locked`}>
      <span class="bar-locked" style={{ width: `${part}%` }} />
    </div>
  );
}
