import { Fragment, type JSX } from 'preact';
import { type Query, tokenLink, useAddress } from '../data/address.ts';
import {
  type AnswerRow,
  type ApiRequest,
  csvOf,
  historyRequest,
  type Instruments,
  instrumentsRequest,
  type OwnerInstruments,
  ownerInstrumentsRequest,
  type Shown,
} from '../data/api.ts';
import { usePacedHere } from '../data/hooks.ts';
import { type InstrumentNames, useInstrumentNames } from '../data/labels.ts';
import { AnswerCard } from '../parts/card.tsx';
import { ChartCard } from '../parts/chart-card.tsx';
import { amountColumn, type Column, Pager, pageQuery, Table, usePages } from '../parts/table.tsx';
import { ForeignId, partyParts } from '../parts/values.tsx';
import { HoldersCard } from './holders.tsx';
import { LocksCard, MovementsCard, StatementCard } from './owner-tables.tsx';

type Instrument = AnswerRow<Instruments['instruments']>;
type OwnedInstrument = AnswerRow<OwnerInstruments['instruments']>;

const PACE_MS = 5_000;

/** All instruments; of the one that the address names the largest holders, and of one of those what moved. */
export function TokensPage({ here }: { readonly here: Shown }): JSX.Element {
  const { query } = useAddress();
  const shown = usePacedHere(here, PACE_MS);
  const [admin, id, owner] = ['instrument_admin', 'instrument_id', 'owner'].map((name) => query.get(name));
  const chosen = admin != null && id != null ? { instrument_admin: admin, instrument_id: id } : null;
  return (
    <div class="grid">
      <InstrumentList
        here={shown}
        title="Instruments"
        ask={instrumentsRequest}
        more={[
          {
            name: 'Total of',
            cell: ({ scope }) => (scope === 'network' ? 'the supply' : 'followed owners'),
            narrow: 'aside',
          },
          amountColumn('Owners', ({ owners }: Instrument) => owners),
        ]}
      />
      {chosen !== null && (
        <HoldersCard
          key={JSON.stringify(chosen)}
          here={shown}
          title={`Largest holders of ${chosen.instrument_id}`}
          chosen={chosen}
        />
      )}
      {chosen !== null && owner != null && (
        <Fragment key={JSON.stringify([chosen, owner])}>
          <ChartCard
            title={`${chosen.instrument_id} of ${partyParts(owner).name} over time`}
            here={shown}
            ask={(range) => historyRequest(owner, { ...range, ...chosen })}
            paged={false}
            pointsOf={({ points }) => points}
          />
          <MovementsCard {...{ chosen }} party={owner} here={shown} changed={null} />
          <LocksCard {...{ chosen }} party={owner} here={shown} />
          <StatementCard {...{ chosen }} party={owner} migration={shown.migration} changed={null} />
        </Fragment>
      )}
    </div>
  );
}

type Listed = Instrument | OwnedInstrument;

/** What an instrument is, and how much there is of it; `more`: between these. */
function instrumentColumns<Row extends Listed>(
  names: InstrumentNames,
  owner: string | undefined,
  more: readonly Column<Row>[],
): readonly Column<Row>[] {
  return [
    {
      name: 'Instrument',
      cell: ({ admin, id }) => (
        <a href={tokenLink({ instrument_admin: admin, instrument_id: id }, { owner })} title={admin}>
          <ForeignId of={id} />
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
    ...more,
    amountColumn('Contracts', ({ contracts }) => contracts),
  ];
}

interface ListProps<Row> {
  readonly here: Shown;
  readonly title: string;
  readonly owner?: string;
  readonly ask: (
    query: Query,
  ) => ApiRequest<{ readonly instruments: readonly Row[]; readonly next_page_token: string | null }>;
  readonly more: readonly Column<Row>[];
}

function InstrumentList<Row extends Listed>({ here, title, owner, ask, more }: ListProps<Row>): JSX.Element {
  const names = useInstrumentNames();
  const pages = usePages('list');
  const first = { migration_id: here.migration, record_time: here.snapshot.record_time };
  return (
    <AnswerCard title={title} request={ask(pageQuery(pages, first))} csv={csvOf(ask(first), true)} lines={4}>
      {({ instruments, next_page_token }) => (
        <>
          <Table
            caption="The coin and the tokens"
            columns={instrumentColumns(names, owner, more)}
            rows={instruments}
            keyOf={({ admin, id }) => JSON.stringify([admin, id])}
            empty="Nothing was held at this snapshot or before."
          />
          <Pager pages={pages} next={next_page_token} count={instruments.length} what="instruments" />
        </>
      )}
    </AnswerCard>
  );
}

/** What a party has of the coin and of each token; each is a link to its movements. */
export function OwnerInstrumentsCard({ party, here }: { readonly party: string; readonly here: Shown }): JSX.Element {
  return (
    <InstrumentList
      {...{ here }}
      title="All instruments"
      owner={party}
      ask={(query) => ownerInstrumentsRequest(party, query)}
      more={[amountColumn('Accounts', ({ accounts_total }: OwnedInstrument) => accounts_total)]}
    />
  );
}
