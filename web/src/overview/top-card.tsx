import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Here, Top } from '../data/answers.ts';
import { percentOfShare, pixels } from '../data/decimal.ts';
import { csvOf, topRequest } from '../data/requests.ts';
import { showTime } from '../data/time.ts';
import { Amount } from '../parts/amount.tsx';
import { AnswerCard } from '../parts/card.tsx';
import { Choice } from '../parts/choice.tsx';
import { Pager, usePages } from '../parts/pager.tsx';
import { Party } from '../parts/party.tsx';
import { type Column, Table } from '../parts/table.tsx';

type Holder = Top['owners'][number];

const PAGE = 10;
const ORDERS = { total: 'All coin', unlocked: 'Unlocked', locked: 'Locked' } as const;

export function TopCard({ here }: { readonly here: Here }): JSX.Element {
  const [by, setBy] = useState<keyof typeof ORDERS>('total');
  const { record_time } = here.newest;
  const pages = usePages(by);
  const first = { migration_id: here.migration, record_time, by };
  // A later page stays at the snapshot of the first, which its token says.
  const request = topRequest({ ...(pages.after === undefined ? first : { after: pages.after }), limit: PAGE });
  return (
    <AnswerCard
      title="Largest holders"
      request={request}
      csv={csvOf(topRequest(first), true)}
      aside={<Choice label="Order by" of={ORDERS} value={by} choose={setBy} />}
      lines={PAGE}
    >
      {({ record_time: at, owners, owners_total, next_page_token }) => (
        <>
          <Table
            caption={`The largest holders, by ${ORDERS[by].toLowerCase()}`}
            columns={columns(here.migration)}
            rows={owners}
            keyOf={({ party_id }) => party_id}
            empty={<p>Nobody has coin at this snapshot.</p>}
          />
          <Pager
            pages={pages}
            next={next_page_token}
            what={`· ${owners_total} owners with coin at ${showTime(at)} UTC`}
          />
        </>
      )}
    </AnswerCard>
  );
}

function columns(migration: string): readonly Column<Holder>[] {
  return [
    { name: 'Rank', cell: ({ rank }) => rank },
    { name: 'Owner', cell: ({ party_id }) => <Party id={party_id} migration={migration} /> },
    { name: 'Unlocked', number: true, cell: ({ total_unlocked_coin }) => <Amount of={total_unlocked_coin} /> },
    { name: 'Locked', number: true, cell: ({ total_locked_coin }) => <Amount of={total_locked_coin} /> },
    { name: 'All coin', number: true, cell: ({ total_coin_holdings }) => <Amount of={total_coin_holdings} /> },
    { name: 'Share of supply', number: true, cell: ({ share }) => <Share of={percentOfShare(share)} /> },
  ];
}

function Share({ of }: { readonly of: string }): JSX.Element {
  return (
    <span class="share">
      {of} %
      <span class="share-bar" aria-hidden="true">
        <span style={{ width: `${pixels(of)}%` }} />
      </span>
    </span>
  );
}
