import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { csvOf, type Shown, type Snapshot, snapshotsRequest } from '../data/api.ts';
import { useAnswer } from '../data/hooks.ts';
import { fieldOf, showTime, timeOfField } from '../data/time.ts';
import { AnswerCard, Answered, Card, Empty } from '../parts/card.tsx';
import { amountColumn, type Column, Pager, pageQuery, Table, usePages } from '../parts/table.tsx';
import { Amount, Digest, Time } from '../parts/values.tsx';

const PAGE = 20;

const COLUMNS: readonly Column<Snapshot>[] = [
  {
    name: 'Snapshot',
    cell: ({ record_time, forced }) => (
      <>
        <Time of={record_time} /> {forced && <span class="tag">forced</span>}
      </>
    ),
  },
  amountColumn('Owners', ({ owners }) => owners),
  amountColumn('Contracts', ({ contracts }) => contracts),
  amountColumn('Unlocked', ({ unlocked }) => unlocked),
  amountColumn('Locked', ({ locked }) => locked),
  amountColumn('Total', ({ total }) => total),
  { name: 'Digest', cell: ({ digest }) => <Digest of={digest} /> },
];

export function SnapshotsPage({ here }: { readonly here: Shown }): JSX.Element {
  /** The newest snapshot of the list; null: the newest of all. */
  const [until, setUntil] = useState<string | null>(null);
  const pages = usePages(String(until));
  const first = { migration_id: here.migration, to: until ?? undefined };
  return (
    <div class="grid">
      <FindCard here={here} show={setUntil} />
      <AnswerCard
        title={until === null ? 'Snapshots, newest first' : `Snapshots until ${showTime(until)} UTC`}
        request={snapshotsRequest(pageQuery(pages, first, PAGE))}
        refresh={here.newest.record_time}
        csv={csvOf(snapshotsRequest(first), true)}
        lines={PAGE}
        aside={
          until !== null && (
            <button type="button" class="tool" onClick={() => setUntil(null)}>
              Show all
            </button>
          )
        }
      >
        {({ snapshots, next_page_token }) => (
          <>
            <Table
              caption="Snapshots"
              columns={COLUMNS}
              rows={snapshots}
              keyOf={(row) => row.record_time}
              empty="No snapshot at or before this time."
            />
            <Pager pages={pages} next={next_page_token} />
          </>
        )}
      </AnswerCard>
    </div>
  );
}

/** Finds the newest snapshot at or before a time. */
function FindCard({ here, show }: { readonly here: Shown; readonly show: (time: string) => void }): JSX.Element {
  const [time, setTime] = useState(here.newest.record_time);
  const request = snapshotsRequest({ migration_id: here.migration, to: time, limit: 1 });
  const asked = useAnswer(request);
  return (
    <Card title="Find a snapshot" class="wide" requests={[request]} busy={asked.busy}>
      <div class="moment">
        <label>
          <span>Time (UTC)</span>
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
              No snapshot at or before <Time of={time} />. The first one is later.
            </Empty>
          ) : (
            <p class="meaning">
              Newest snapshot at or before <Time of={time} />:{' '}
              <b>
                <Time of={found.record_time} />
              </b>
              , <Amount of={found.total} /> coins, {found.owners} owners.{' '}
              <button type="button" class="tool" onClick={() => show(found.record_time)}>
                List from here
              </button>
            </p>
          )
        }
      </Answered>
    </Card>
  );
}
