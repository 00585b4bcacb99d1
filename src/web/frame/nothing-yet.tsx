import type { JSX } from 'preact';
import type { Status } from '../data/answers.ts';
import type { Live } from '../data/stream.ts';
import type { Asked } from '../data/use-answer.ts';
import { FeedCard } from '../overview/feed-card.tsx';
import { Empty } from '../parts/states.tsx';

/** Before the first snapshot, and for a migration that has none. */
export function NothingYet({
  live,
  status,
  message,
}: {
  readonly live: Live;
  readonly status: Asked<Status>;
  readonly message: string;
}): JSX.Element {
  return (
    <div class="grid">
      <section class="card wide">
        <Empty>
          <p>
            <b>{message}.</b>
          </p>
          <p>
            A snapshot is sealed once an update behind its time was read. This page shows it as soon as it is there.
          </p>
        </Empty>
      </section>
      <FeedCard live={live} status={status} />
    </div>
  );
}
