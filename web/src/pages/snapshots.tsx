import type { JSX } from 'preact';
import { changeQuery, useAddress } from '../data/address.ts';
import { csvOf, type Shown, type Snapshot, snapshotsRequest } from '../data/api.ts';
import { showTime } from '../data/time.ts';
import { AnswerCard } from '../parts/card.tsx';
import { snapshotLink } from '../parts/snapshot-figures.tsx';
import { amountColumn, type Column, Pager, pageQuery, Table, usePages } from '../parts/table.tsx';
import { Id, Time } from '../parts/values.tsx';

/** All snapshots up to the time that is shown. */
export function SnapshotsPage({ here }: { readonly here: Shown }): JSX.Element {
  const { query } = useAddress();
  const pages = usePages('list');
  const isOldest = query.get('order') === 'asc';
  const first = {
    migration_id: here.migration,
    to: here.at ?? undefined,
    order: isOldest ? 'asc' : undefined,
  };
  const columnsOf = (snapshots: readonly Snapshot[]): readonly Column<Snapshot>[] => [
    {
      name: 'Snapshot',
      cell: ({ record_time, forced }) => (
        <>
          <a href={snapshotLink(here.migration, record_time)}>
            <Time of={record_time} precise={snapshots.some((each) => !each.record_time.endsWith(':00Z'))} />
          </a>{' '}
          {forced && <span class="tag">forced</span>}
        </>
      ),
      narrow: 'head',
      sort: {
        order: isOldest ? 'ascending' : 'descending',
        choose: () => changeQuery({ order: isOldest ? undefined : 'asc', list: undefined }, { state: null }),
      },
    },
    amountColumn('Owners', ({ owners }) => owners, { narrow: 'sub' }),
    amountColumn('Contracts', ({ contracts }) => contracts),
    amountColumn('Unlocked', ({ unlocked }) => unlocked),
    amountColumn('Locked', ({ locked }) => locked, { narrow: 'aside' }),
    amountColumn('Total', ({ total }) => total, { narrow: 'value' }),
    { name: 'Digest', cell: ({ digest }) => (digest === null ? 'none' : <Id of={digest} what="the digest" />) },
  ];
  return (
    <div class="grid">
      <AnswerCard
        title={here.at === null ? 'All snapshots' : `Snapshots up to ${showTime(here.at)} UTC`}
        request={snapshotsRequest(pageQuery(pages, first))}
        refresh={here.newest.record_time}
        csv={csvOf(snapshotsRequest(first), true)}
        lines={pages.size}
      >
        {({ snapshots, next_page_token }) => (
          <>
            <Table
              caption="Snapshots"
              columns={columnsOf(snapshots)}
              rows={snapshots}
              keyOf={(row) => row.record_time}
              empty="No snapshot at or before this time."
            />
            <Pager pages={pages} next={next_page_token} count={snapshots.length} what="snapshots" />
          </>
        )}
      </AnswerCard>
    </div>
  );
}
