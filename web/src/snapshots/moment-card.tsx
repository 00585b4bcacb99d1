import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Here } from '../data/answers.ts';
import { snapshotsRequest } from '../data/requests.ts';
import { fieldOf, timeOfField } from '../data/time.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Amount } from '../parts/amount.tsx';
import { Card } from '../parts/card.tsx';
import { Answered, Empty } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';

/** Says which snapshot a time means: the newest at or before it. */
export function MomentCard({
  here,
  show,
}: {
  readonly here: Here;
  /** Has the list begin with a snapshot. */
  readonly show: (time: string) => void;
}): JSX.Element {
  const [time, setTime] = useState(here.newest.record_time);
  const request = snapshotsRequest({ migration_id: here.migration, to: time, limit: 1 });
  const asked = useAnswer(request);
  return (
    <Card title="Which snapshot does a time mean?" class="wide" requests={[request]} busy={asked.busy}>
      <div class="moment">
        <label>
          <span>A time (UTC)</span>
          <input
            type="datetime-local"
            step="1"
            value={fieldOf(time)}
            onInput={({ currentTarget }) => currentTarget.value !== '' && setTime(timeOfField(currentTarget.value))}
          />
        </label>
      </div>
      <Answered asked={asked} lines={2}>
        {({ snapshots: [found] }) =>
          found === undefined ? (
            <Empty>
              No snapshot: the first was sealed after <Time of={time} />.
            </Empty>
          ) : (
            <p class="meaning">
              <Time of={time} /> means the snapshot of{' '}
              <b>
                <Time of={found.record_time} />
              </b>
              , the newest at or before it: <Amount of={found.total_coin} /> coins of {found.owners} owners.{' '}
              <button type="button" class="tool" onClick={() => show(found.record_time)}>
                List from there
              </button>
            </p>
          )
        }
      </Answered>
    </Card>
  );
}
