import type { JSX } from 'preact';
import { contractsRequest, type Holding } from '../data/requests.ts';
import { Amount } from '../parts/amount.tsx';
import { AnswerCard } from '../parts/card.tsx';
import { Pager, usePages } from '../parts/pager.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { type Coin, coinOf } from './coin.ts';
import { ContractsDownload } from './contracts-download.tsx';

const PAGE = 10;

const COLUMNS: readonly Column<Coin>[] = [
  { name: 'Created', cell: ({ createdAt }) => <Time of={createdAt} /> },
  {
    name: 'Coin',
    cell: ({ locked }) => <span class={`tag ${locked ? 'locked' : 'unlocked'}`}>{locked ? 'locked' : 'unlocked'}</span>,
  },
  { name: 'Amount', number: true, cell: ({ amount }) => <Amount of={amount} /> },
  { name: 'Fee a round', number: true, cell: ({ rate }) => <Amount of={rate} /> },
  { name: 'Since round', number: true, cell: ({ round }) => round },
  { name: 'Contract', cell: ({ contractId }) => <code class="contract-id">{contractId}</code> },
];

/** The contracts behind the totals, in the order of their creation. */
export function ContractsCard({
  holding,
  pinned,
}: {
  readonly holding: Holding;
  /** Whether the reader chose the snapshot; else it is the newest, and another one soon. */
  readonly pinned: boolean;
}): JSX.Element {
  // Later pages stay at the snapshot of the first, and a download at the one at which it was begun.
  const question = JSON.stringify([holding.party, holding.migration, pinned && holding.time]);
  const pages = usePages<{ readonly token: unknown; readonly time: string }>(question);
  const shown = pages.after === undefined ? holding : { ...holding, time: pages.after.time };
  const request = contractsRequest(shown, { pageSize: PAGE, after: pages.after?.token });
  return (
    <AnswerCard
      title="Contracts"
      request={request}
      aside={<ContractsDownload key={question} holding={shown} />}
      lines={PAGE}
    >
      {({ record_time, created_events, next_page_token }) => (
        <>
          <Table
            caption="Coin contracts"
            columns={COLUMNS}
            rows={created_events.map(coinOf)}
            keyOf={({ contractId }) => contractId}
            empty="No contract of this party was active at this snapshot."
          />
          <Pager pages={pages} next={next_page_token === null ? null : { token: next_page_token, time: record_time }} />
        </>
      )}
    </AnswerCard>
  );
}
