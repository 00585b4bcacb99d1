import type { JSX } from 'preact';
import { ownerLink, pageLink, type Query, tokenLink } from '../data/address.ts';
import { csvOf, type FoundById, foundRequest } from '../data/api.ts';
import { AnswerCard, Empty } from '../parts/card.tsx';
import { type Column, changeColumn, Table } from '../parts/table.tsx';
import { ForeignId, Id, Party, Time } from '../parts/values.tsx';

type Found = FoundById['found'][number];

/** What is shown now: the migration, and the DSO, whose instrument is the coin. */
export interface Now {
  readonly migration: string | undefined;
  readonly dso: string | null;
}

/** The page of an owner, or that of an owner's token. */
export function holderLink(found: Found, { migration, dso }: Now, more: Query = {}): string {
  const { party_id, instrument_admin } = found;
  const own = String(found.migration_id);
  const query = { ...(own !== migration && { migration: own }), ...more };
  if (party_id !== null && instrument_admin === dso) return ownerLink(party_id, query);
  return tokenLink(found, { ...query, owner: party_id ?? undefined });
}

/** What an update moved, of all owners and instruments. */
export function UpdatePage({ id, now }: { readonly id: string; readonly now: Now }): JSX.Element {
  const request = foundRequest(id);
  const columns: readonly Column<Found>[] = [
    {
      name: 'Owner',
      cell: ({ party_id }) => (party_id === null ? 'no owner' : <Party id={party_id} />),
      narrow: 'head',
    },
    {
      name: 'Instrument',
      cell: (row) => (
        <a href={holderLink(row, now)} title={row.instrument_admin}>
          <ForeignId of={row.instrument_id} />
        </a>
      ),
      narrow: 'sub',
    },
    changeColumn('Change', ({ total }) => total, { gain: true, narrow: 'value' }),
    changeColumn('Unlocked change', ({ unlocked }) => unlocked),
    changeColumn('Locked change', ({ locked }) => locked, { narrow: 'aside' }),
  ];
  return (
    <div class="grid">
      <AnswerCard title="What it moved" request={request} csv={csvOf(request, false)} lines={4}>
        {({ found }) => {
          const [first] = found;
          if (first?.kind !== 'update')
            return (
              <Empty>No update that moved a coin or a token has this id, or its movements are no longer kept.</Empty>
            );
          return (
            <>
              <p class="party-id">
                <Id of={id} what="the update id" /> · <Time of={first.record_time} precise /> ·{' '}
                <a href={pageLink('', { at: first.record_time })}>Show all pages at this time</a>
              </p>
              <Table
                caption="Owners, the largest change first"
                columns={columns}
                rows={found}
                keyOf={(row) =>
                  JSON.stringify([row.party_id, row.instrument_admin, row.instrument_id, row.provider, row.account_id])
                }
              />
            </>
          );
        }}
      </AnswerCard>
    </div>
  );
}
