import type { JSX } from 'preact';
import type { Changes } from '../data/answers.ts';
import { changesRequest, csvOf } from '../data/requests.ts';
import { Amount } from '../parts/amount.tsx';
import { AnswerCard } from '../parts/card.tsx';
import { Pager, usePages } from '../parts/pager.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

type Change = Changes['changes'][number];

const PAGE = 10;

const COLUMNS: readonly Column<Change>[] = [
  { name: 'Snapshot', cell: ({ record_time }) => <Time of={record_time} /> },
  {
    name: 'Change, unlocked',
    number: true,
    cell: ({ change_unlocked_coin }) => <Amount of={change_unlocked_coin} signed />,
  },
  { name: 'Change, locked', number: true, cell: ({ change_locked_coin }) => <Amount of={change_locked_coin} signed /> },
  { name: 'Unlocked', number: true, cell: ({ total_unlocked_coin }) => <Amount of={total_unlocked_coin} /> },
  { name: 'Locked', number: true, cell: ({ total_locked_coin }) => <Amount of={total_locked_coin} /> },
  { name: 'Contracts', number: true, cell: ({ contracts }) => <Amount of={String(contracts)} /> },
];

/** The snapshots at which what the party has changed, the newest first. */
export function ChangesCard({
  party,
  migration,
  changed,
}: {
  readonly party: string;
  readonly migration: string;
  readonly changed: string | null;
}): JSX.Element {
  const pages = usePages('changes');
  const first = { migration_id: migration };
  const request = changesRequest(party, {
    ...(pages.after === undefined ? first : { after: pages.after }),
    limit: PAGE,
  });
  return (
    <AnswerCard
      title="Changes"
      request={request}
      refresh={changed}
      csv={csvOf(changesRequest(party, first), true)}
      lines={PAGE}
    >
      {({ changes, next_page_token }) => (
        <>
          <Table
            caption="Changes of the balance"
            columns={COLUMNS}
            rows={changes}
            keyOf={(row) => row.record_time}
            empty={`This party never had coin in migration ${migration}.`}
          />
          <Pager pages={pages} next={next_page_token} />
        </>
      )}
    </AnswerCard>
  );
}
