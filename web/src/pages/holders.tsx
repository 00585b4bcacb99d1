import type { JSX } from 'preact';
import { type Chosen, changeQuery, ownerLink, tokenLink, useAddress } from '../data/address.ts';
import { csvOf, type Shown, type Top, topRequest, totalsRequest } from '../data/api.ts';
import { percentOf, percentOfShare, pixels, sum } from '../data/decimal.ts';
import { useLabels } from '../data/labels.ts';
import { showTime } from '../data/time.ts';
import { AnswerCard } from '../parts/card.tsx';
import { amountColumn, type Column, Pager, pageQuery, Table, usePages } from '../parts/table.tsx';
import { Party } from '../parts/values.tsx';

type Holder = Top['owners'][number];

const ORDERS = ['total', 'unlocked', 'locked'] as const;
type Order = (typeof ORDERS)[number];

interface HoldersProps {
  readonly here: Shown;
  readonly title: string;
  /** Of a token; of the coin unless given. */
  readonly chosen?: Chosen;
}

/** The owners at a snapshot, the largest first. */
export function HoldersCard({ here, title, chosen }: HoldersProps): JSX.Element {
  const { query } = useAddress();
  const by = ORDERS.find((each) => each === query.get('by')) ?? 'total';
  const pages = usePages('holders');
  // A later page stays at the snapshot of the first, which its token names.
  const first = { migration_id: here.migration, record_time: here.snapshot.record_time, by, ...chosen };
  return (
    <AnswerCard
      title={title}
      request={topRequest(pageQuery(pages, first))}
      csv={csvOf(topRequest(first), true)}
      lines={pages.size}
    >
      {({ record_time, owners, owners_total, next_page_token }) => (
        <>
          <Table
            caption={`${title}, by ${by}`}
            columns={holderColumns(by, owners, chosen)}
            rows={owners}
            keyOf={({ party_id }) => party_id}
            empty="No owner has any at this snapshot."
          />
          <Pager
            pages={pages}
            next={next_page_token}
            count={owners.length}
            total={by === 'total' ? owners_total : undefined}
            what={`owners at ${showTime(record_time)} UTC`}
          />
        </>
      )}
    </AnswerCard>
  );
}

function holderColumns(by: Order, owners: readonly Holder[], chosen: Chosen | undefined): readonly Column<Holder>[] {
  const largest = owners.map(({ share }) => share).reduce((a, b) => (pixels(a) > pixels(b) ? a : b), '0');
  const amount = (name: string, order: Order): Column<Holder> =>
    amountColumn(name, (row) => row[order], {
      ...(order === by && { narrow: 'value' as const }),
      sort: {
        order: order === by ? 'descending' : null,
        choose: () => changeQuery({ by: order, holders: undefined }, { state: null }),
      },
    });
  return [
    { name: 'Rank', cell: ({ rank }) => rank, number: true, narrow: 'sub' },
    {
      name: 'Owner',
      cell: ({ party_id }) => <Party id={party_id} href={chosen && tokenLink(chosen, { owner: party_id })} />,
      narrow: 'head',
    },
    amount('Unlocked', 'unlocked'),
    amount('Locked', 'locked'),
    amount('Total', 'total'),
    {
      name: 'Share',
      number: true,
      cell: ({ share }) => <Share of={share} largest={largest} />,
      narrow: 'aside',
    },
  ];
}

/** A share in percent, with a bar beside the largest that is shown. */
function Share({ of, largest }: { readonly of: string; readonly largest: string }): JSX.Element {
  return (
    <span class="share" title={of}>
      {percentOfShare(of)} %
      <span class="share-bar" aria-hidden="true">
        <span style={{ width: `${(100 * pixels(of)) / pixels(largest)}%` }} />
      </span>
    </span>
  );
}

/** What one request may ask about. */
const PARTIES_MAX = 1000;

/** The groups of the operator's labels, each with the sum of its parties. */
export function GroupsCard({ here }: { readonly here: Shown }): JSX.Element | null {
  const labels = useLabels();
  const grouped = Object.entries(labels).filter(([, { group }]) => group !== undefined);
  if (grouped.length === 0) return null;
  if (grouped.length > PARTIES_MAX)
    return <p class="note">More than {PARTIES_MAX} parties have a group: their sums are not shown.</p>;
  const parties = grouped.map(([party]) => party);
  const holding = { migration: here.migration, time: here.snapshot.record_time, party: parties[0]! };
  return (
    <AnswerCard title="Groups" request={totalsRequest(holding, parties)} lines={3}>
      {({ summaries }) => {
        const totals = new Map(summaries.map((each) => [each.party_id, each.total_coin_holdings]));
        const groups = Map.groupBy(grouped, ([, { group }]) => group!);
        const rows = [...groups].map(([name, members]) => {
          const ids = members.map(([party]) => party);
          return { name, ids, total: sum(ids.map((party) => totals.get(party) ?? '0.0000000000')) };
        });
        return (
          <Table
            caption="Groups of parties"
            rows={rows.sort((a, b) => pixels(b.total) - pixels(a.total))}
            keyOf={({ name }) => name}
            columns={[
              { name: 'Group', cell: ({ name }) => <b>{name}</b>, narrow: 'head' },
              {
                name: 'Parties',
                cell: ({ ids }) => (
                  <span class="members">
                    {ids.map((party) => (
                      <a key={party} href={ownerLink(party)} title={party}>
                        {labels[party]!.name ?? party.split('::')[0]}
                      </a>
                    ))}
                  </span>
                ),
                narrow: 'sub',
              },
              amountColumn('Total', ({ total }: (typeof rows)[number]) => total, { narrow: 'value' }),
              {
                name: 'Share',
                number: true,
                cell: ({ total }) => `${percentOf(total, here.snapshot.total)} %`,
                narrow: 'aside',
              },
            ]}
          />
        );
      }}
    </AnswerCard>
  );
}
