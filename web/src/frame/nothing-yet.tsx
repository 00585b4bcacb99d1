import type { JSX } from 'preact';
import type { Status } from '../data/answers.ts';
import { serviceState } from '../data/service-state.ts';
import type { Live } from '../data/stream.ts';
import type { Asked } from '../data/use-answer.ts';
import { FeedCard } from '../overview/feed-card.tsx';
import { Empty } from '../parts/states.tsx';

const SOURCES = `No source is configured. Restart the service with one, such as:

holdfast serve --scan https://scan.sv-1.example
holdfast serve --ledger-api https://participant.example --ledger-api-parties all
holdfast serve --file history.ndjson`;

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
          {serviceState(live, status.answer).isStored && status.answer?.source === null && <pre>{SOURCES}</pre>}
        </Empty>
      </section>
      <FeedCard live={live} status={status} />
    </div>
  );
}
