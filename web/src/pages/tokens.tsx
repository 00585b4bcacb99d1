import type { JSX } from 'preact';
import { type Chosen, tokenLink, useAddress } from '../data/address.ts';
import {
  type AnswerRow,
  csvOf,
  historyRequest,
  type Instruments,
  instrumentsRequest,
  type Movements,
  movementsRequest,
  type Shown,
  type Top,
  topRequest,
} from '../data/api.ts';
import { percentOfShare } from '../data/decimal.ts';
import { useAnswer, usePacedHere } from '../data/hooks.ts';
import { instrumentNamesRequest } from '../data/labels.ts';
import { showTime } from '../data/time.ts';
import { AnswerCard } from '../parts/card.tsx';
import { ChartCard } from '../parts/chart-card.tsx';
import { amountColumn, type Column, changeColumn, Pager, pageQuery, Table, usePages } from '../parts/table.tsx';
import { partyParts, Time } from '../parts/values.tsx';

type Instrument = AnswerRow<Instruments['instruments']>;

const PACE_MS = 5_000;

/** All instruments; of the one that the address names the largest holders, and of one of those what moved. */
export function TokensPage({ here }: { readonly here: Shown }): JSX.Element {
  const { query } = useAddress();
  const shown = usePacedHere(here, PACE_MS);
  const [admin, id, owner] = ['instrument_admin', 'instrument_id', 'owner'].map((name) => query.get(name));
  const chosen = admin != null && id != null ? { instrument_admin: admin, instrument_id: id } : null;
  return (
    <div class="grid">
      <InstrumentsCard here={shown} />
      {chosen !== null && <HoldersCard key={JSON.stringify(chosen)} here={shown} chosen={chosen} />}
      {chosen !== null && owner != null && (
        <OwnerCards key={JSON.stringify([chosen, owner])} here={shown} chosen={chosen} owner={owner} />
      )}
    </div>
  );
}

/** An id may be any text, in any direction. */
function Name({ id }: { readonly id: string }): JSX.Element {
  return <bdi class="wrap">{id === '' ? '(empty)' : id}</bdi>;
}

function InstrumentsCard({ here }: { readonly here: Shown }): JSX.Element {
  const names = useAnswer(instrumentNamesRequest).answer?.instruments ?? [];
  const pages = usePages('list');
  const first = { migration_id: here.migration, record_time: here.snapshot.record_time };
  const columns: readonly Column<Instrument>[] = [
    {
      name: 'Instrument',
      cell: ({ admin, id }) => (
        <a href={tokenLink({ instrument_admin: admin, instrument_id: id })} title={admin}>
          <Name id={id} />
        </a>
      ),
      narrow: 'head',
    },
    {
      name: 'Name',
      cell: (row) => {
        const { symbol, name } = names.find(({ admin, id }) => admin === row.admin && id === row.id) ?? {};
        return symbol === undefined ? '' : <span title={name}>{`${symbol} · ${name}`}</span>;
      },
      narrow: 'sub',
    },
    { name: 'Admin', cell: ({ admin }) => <span title={admin}>{partyParts(admin).name}</span> },
    amountColumn('Unlocked', ({ unlocked }) => unlocked),
    amountColumn('Locked', ({ locked }) => locked),
    amountColumn('Total', ({ total }) => total, { narrow: 'value' }),
    { name: 'Total of', cell: ({ scope }) => (scope === 'network' ? 'the supply' : 'followed owners') },
    amountColumn('Owners', ({ owners }) => owners),
    amountColumn('Contracts', ({ contracts }) => contracts),
  ];
  return (
    <AnswerCard
      title="Instruments"
      request={instrumentsRequest(pageQuery(pages, first))}
      csv={csvOf(instrumentsRequest(first), true)}
      lines={pages.size}
    >
      {({ instruments, record_time, next_page_token }) => (
        <>
          <Table
            caption="The coin and the tokens"
            columns={columns}
            rows={instruments}
            keyOf={({ admin, id }) => JSON.stringify([admin, id])}
            empty="Nothing was held at this snapshot or before."
          />
          <Pager
            pages={pages}
            next={next_page_token}
            count={instruments.length}
            what={`instruments at ${showTime(record_time)} UTC`}
          />
        </>
      )}
    </AnswerCard>
  );
}

type Holder = AnswerRow<Top['owners']>;

function HoldersCard({ here, chosen }: { readonly here: Shown; readonly chosen: Chosen }): JSX.Element {
  const pages = usePages('holders');
  const first = { migration_id: here.migration, record_time: here.snapshot.record_time, ...chosen };
  const columns: readonly Column<Holder>[] = [
    { name: 'Rank', cell: ({ rank }) => rank, number: true, narrow: 'sub' },
    {
      name: 'Owner',
      cell: ({ party_id }) => (
        <a href={tokenLink(chosen, { owner: party_id })} title={party_id}>
          {partyParts(party_id).name}
        </a>
      ),
      narrow: 'head',
    },
    amountColumn('Unlocked', ({ unlocked }) => unlocked),
    amountColumn('Locked', ({ locked }) => locked),
    amountColumn('Total', ({ total }) => total, { narrow: 'value' }),
    { name: 'Share of the total', number: true, cell: ({ share }) => `${percentOfShare(share)} %`, narrow: 'aside' },
  ];
  return (
    <AnswerCard
      title={`Largest holders of ${chosen.instrument_id}`}
      request={topRequest(pageQuery(pages, first))}
      csv={csvOf(topRequest(first), true)}
      lines={pages.size}
    >
      {({ owners, owners_total, next_page_token }) => (
        <>
          <Table
            caption="The largest holders of this instrument"
            columns={columns}
            rows={owners}
            keyOf={({ party_id }) => party_id}
            empty="No owner has any at this snapshot."
          />
          <Pager pages={pages} next={next_page_token} count={owners.length} total={owners_total} what="owners" />
        </>
      )}
    </AnswerCard>
  );
}

type Movement = AnswerRow<Movements['movements']>;

const MOVEMENT_COLUMNS: readonly Column<Movement>[] = [
  { name: 'Time', cell: ({ record_time }) => <Time of={record_time} precise />, narrow: 'head' },
  { name: 'Kind', cell: ({ kind }) => kind, narrow: 'sub' },
  changeColumn('Change', ({ change_total }) => change_total, { gain: true, narrow: 'value' }),
  changeColumn('Locked change', ({ change_locked }) => change_locked),
  amountColumn('Total', ({ total }) => total),
  {
    name: 'Account',
    cell: ({ provider = null, account_id = '' }) => (
      <>
        {provider !== null && <span title={provider}>{partyParts(provider).name} </span>}
        <Name id={account_id} />
      </>
    ),
  },
];

interface OwnerProps {
  readonly here: Shown;
  readonly chosen: Chosen;
  readonly owner: string;
}

function OwnerCards({ here, chosen, owner }: OwnerProps): JSX.Element {
  const pages = usePages('movements');
  const first = { migration_id: here.migration, ...chosen };
  const { name } = partyParts(owner);
  return (
    <>
      <ChartCard
        title={`${chosen.instrument_id} of ${name} over time`}
        here={here}
        ask={(range) => historyRequest(owner, { ...range, ...chosen })}
        paged={false}
        pointsOf={({ points }) => points}
      />
      <AnswerCard
        title={`Movements of ${name}`}
        request={movementsRequest(owner, pageQuery(pages, first))}
        csv={csvOf(movementsRequest(owner, first), true)}
        lines={pages.size}
      >
        {({ movements, next_page_token }) => (
          <>
            <Table
              caption="Movements of this instrument"
              columns={MOVEMENT_COLUMNS}
              rows={movements}
              keyOf={(row) => JSON.stringify([row.update_id, row.provider, row.account_id])}
              empty="Nothing of this instrument moved."
            />
            <Pager pages={pages} next={next_page_token} count={movements.length} what="movements" />
          </>
        )}
      </AnswerCard>
    </>
  );
}
