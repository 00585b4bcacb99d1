import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Here, Snapshot } from '../data/answers.ts';
import { csvOf, snapshotsRequest } from '../data/requests.ts';
import { Amount } from '../parts/amount.tsx';
import { AnswerCard } from '../parts/card.tsx';
import { Digest } from '../parts/digest.tsx';
import { Pager, usePages } from '../parts/pager.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { MomentCard } from './moment-card.tsx';

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
  { name: 'Owners', number: true, cell: ({ owners }) => <Amount of={String(owners)} /> },
  { name: 'Contracts', number: true, cell: ({ contracts }) => <Amount of={String(contracts)} /> },
  { name: 'Unlocked', number: true, cell: ({ total_unlocked_coin }) => <Amount of={total_unlocked_coin} /> },
  { name: 'Locked', number: true, cell: ({ total_locked_coin }) => <Amount of={total_locked_coin} /> },
  { name: 'Total', number: true, cell: ({ total_coin }) => <Amount of={total_coin} /> },
  { name: 'Digest', cell: ({ digest }) => <Digest of={digest} /> },
];

export function SnapshotsPage({ here }: { readonly here: Here }): JSX.Element {
  const [until, setUntil] = useState<string | null>(null);
  return (
    <div class="grid">
      <MomentCard here={here} show={setUntil} />
      <ListCard here={here} until={until} all={() => setUntil(null)} />
    </div>
  );
}

function ListCard({
  here,
  until,
  all,
}: {
  readonly here: Here;
  /** The time of the first one in the list; null: the newest there is. */
  readonly until: string | null;
  readonly all: () => void;
}): JSX.Element {
  const pages = usePages(String(until));
  const first = { migration_id: here.migration, to: until ?? undefined };
  const request = snapshotsRequest({ ...(pages.after === undefined ? first : { after: pages.after }), limit: PAGE });
  return (
    <AnswerCard
      title={until === null ? 'All snapshots, the newest first' : 'Snapshots up to the chosen one'}
      request={request}
      refresh={here.newest.record_time}
      csv={csvOf(snapshotsRequest(first), true)}
      lines={PAGE}
      aside={
        until !== null && (
          <button type="button" class="tool" onClick={all}>
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
            empty="No snapshot was sealed by then."
          />
          <Pager pages={pages} next={next_page_token} />
        </>
      )}
    </AnswerCard>
  );
}
