import type { JSX } from 'preact';
import { type Chosen, changeQuery, tokenLink, updateLink, useAddress } from '../data/address.ts';
import {
  type Changes,
  changesRequest,
  csvOf,
  type Locks,
  locksRequest,
  type Movements,
  movementsRequest,
  type Shown,
  type Statement,
  statementRequest,
} from '../data/api.ts';
import { percentOf, pixels, sum } from '../data/decimal.ts';
import { DAY_MS, instant, microAfter } from '../data/time.ts';
import { AnswerCard, Choice, Empty } from '../parts/card.tsx';
import { amountColumn, type Column, changeColumn, Pager, pageQuery, Table, usePages } from '../parts/table.tsx';
import { Amount, Figure, ForeignId, Id, Party, partyParts, Time } from '../parts/values.tsx';

type Movement = Movements['movements'][number];

const KINDS = { all: 'All', in: 'In', out: 'Out', lock: 'Lock', unlock: 'Unlock' } as const;
const VIEWS = { updates: 'By update', snapshots: 'By snapshot' } as const;

const nameIn = <Names extends object>(names: Names, given: string | null, initial: keyof Names & string) =>
  given !== null && given in names ? (given as keyof Names & string) : initial;

interface MovementsProps {
  readonly party: string;
  /** Of a token; of the coin unless given. */
  readonly chosen?: Chosen | undefined;
  readonly here: Shown;
  /** Changes when the party's history does. */
  readonly changed: string | null;
}

/** What moved, newest first: update by update, or from snapshot to snapshot, which every store has. */
export function MovementsCard(props: MovementsProps): JSX.Element {
  const { query } = useAddress();
  const view = nameIn(VIEWS, query.get('view'), 'updates');
  const choice = (
    <Choice
      label="Rows"
      of={VIEWS}
      value={view}
      choose={(name) => changeQuery({ view: name === 'updates' ? undefined : name })}
    />
  );
  return view === 'updates' ? <UpdatesCard {...props} choice={choice} /> : <ChangesCard {...props} choice={choice} />;
}

function newestFirst(query: URLSearchParams, name: 'movements' | 'changes'): Column<never>['sort'] & { asked: string } {
  const isOldest = query.get('order') === 'asc';
  return {
    asked: isOldest ? 'asc' : 'desc',
    order: isOldest ? 'ascending' : 'descending',
    choose: () => changeQuery({ order: isOldest ? undefined : 'asc', [name]: undefined }, { state: null }),
  };
}

function UpdatesCard({
  party,
  chosen,
  here,
  changed,
  choice,
}: MovementsProps & { readonly choice: JSX.Element }): JSX.Element {
  const { query } = useAddress();
  const kind = nameIn(KINDS, query.get('kind'), 'all');
  const pages = usePages('movements');
  const { asked, ...sort } = newestFirst(query, 'movements');
  const first = {
    migration_id: here.migration,
    to: here.at ?? undefined,
    kind: kind === 'all' ? undefined : kind,
    order: asked === 'asc' ? 'asc' : undefined,
    ...chosen,
  };
  const columns: readonly Column<Movement>[] = [
    { name: 'Time', cell: ({ record_time }) => <Time of={record_time} precise />, narrow: 'sub', sort },
    {
      name: 'Kind',
      cell: ({ kind }) => <span class={`tag ${kind}`}>{KINDS[kind].toLowerCase()}</span>,
      narrow: 'head',
    },
    changeColumn('Change', ({ change_total }) => change_total, { gain: true, narrow: 'value' }),
    changeColumn('Locked change', ({ change_locked }) => change_locked),
    amountColumn('Total after', ({ total }) => total, { narrow: 'aside' }),
    ...(chosen === undefined ? [] : [{ name: 'Account', cell: AccountName }]),
    { name: 'Others', cell: (movement) => <Others of={movement} chosen={chosen} /> },
    {
      name: 'Update',
      cell: ({ update_id }) => <Id of={update_id} what="the update id" href={updateLink(update_id)} />,
    },
  ];
  return (
    <AnswerCard
      title="Movements"
      request={movementsRequest(party, pageQuery(pages, first))}
      refresh={changed}
      csv={csvOf(movementsRequest(party, first), true)}
      aside={
        <>
          {choice}
          <Choice
            label="Kind"
            of={KINDS}
            value={kind}
            choose={(name) => changeQuery({ kind: name === 'all' ? undefined : name, movements: undefined })}
          />
        </>
      }
      lines={pages.size}
    >
      {({ movements, next_page_token }) => (
        <>
          <Table
            caption="Movements"
            columns={columns}
            rows={movements}
            keyOf={(row) => JSON.stringify([row.counted_at, row.update_id, row.provider, row.account_id])}
            empty={kind === 'all' ? 'Nothing of this party ever moved.' : `This party has no movement of this kind.`}
          />
          <Pager pages={pages} next={next_page_token} count={movements.length} what="movements" />
        </>
      )}
    </AnswerCard>
  );
}

function AccountName({ provider = null, account_id = '' }: Movement): JSX.Element {
  return (
    <>
      {provider !== null && <span title={provider}>{partyParts(provider).name} </span>}
      <ForeignId of={account_id} />
    </>
  );
}

interface OthersProps extends Pick<MovementsProps, 'chosen'> {
  readonly of: Movement;
}

/** The other owners of an update: the one with the largest change, and how many more. */
function Others({ of: { others, others_count }, chosen }: OthersProps): JSX.Element {
  const [first] = others;
  if (first === undefined) return <span class="faint">none</span>;
  const more = others.slice(1).map(({ party_id, change_total }) => `${party_id} ${change_total}`);
  return (
    <span class="others">
      {first.party_id === null ? (
        'no owner'
      ) : (
        <Party id={first.party_id} href={chosen && tokenLink(chosen, { owner: first.party_id })} />
      )}
      {others_count > 1 && (
        <span class="faint" title={more.join('\n')}>
          {' '}
          +{others_count - 1}
        </span>
      )}
    </span>
  );
}

type Change = Changes['changes'][number];

/** The snapshots at which the holdings of the party changed. */
function ChangesCard({
  party,
  chosen,
  here,
  changed,
  choice,
}: MovementsProps & { readonly choice: JSX.Element }): JSX.Element {
  const { query } = useAddress();
  const pages = usePages('changes');
  const { asked, ...sort } = newestFirst(query, 'changes');
  const first = {
    migration_id: here.migration,
    to: here.at ?? undefined,
    order: asked === 'asc' ? 'asc' : undefined,
    ...chosen,
  };
  const columns: readonly Column<Change>[] = [
    { name: 'Snapshot', cell: ({ record_time }) => <Time of={record_time} />, narrow: 'head', sort },
    changeColumn('Change', ({ change_total }) => change_total, { gain: true, narrow: 'value' }),
    changeColumn('Unlocked change', ({ change_unlocked }) => change_unlocked),
    changeColumn('Locked change', ({ change_locked }) => change_locked, { narrow: 'sub' }),
    amountColumn('Total', ({ total }) => total, { narrow: 'aside' }),
    amountColumn('Contracts', ({ contracts }) => contracts),
  ];
  return (
    <AnswerCard
      title="Movements"
      request={changesRequest(party, pageQuery(pages, first))}
      refresh={changed}
      csv={csvOf(changesRequest(party, first), true)}
      aside={choice}
      lines={pages.size}
    >
      {({ changes, next_page_token }) => (
        <>
          <Table
            caption="Changes of the balance"
            columns={columns}
            rows={changes}
            keyOf={(row) => row.record_time}
            empty={`This party never had any in migration ${here.migration}.`}
          />
          <Pager pages={pages} next={next_page_token} count={changes.length} what="snapshots with a change" />
        </>
      )}
    </AnswerCard>
  );
}

type Lock = Locks['locks'][number];

const LOCK_COLUMNS: readonly Column<Lock>[] = [
  {
    name: 'Unlocks',
    cell: ({ expires_at, expired }) => (
      <>
        {expires_at === null ? 'never' : <Time of={expires_at} precise />} {expired && <span class="tag">expired</span>}
      </>
    ),
    narrow: 'head',
  },
  amountColumn('Amount', ({ amount }) => amount, { narrow: 'value' }),
  {
    name: 'Holders',
    cell: ({ holders }) => holders.map((holder) => <Party key={holder} id={holder} />),
    narrow: 'sub',
  },
  { name: 'Context', cell: ({ context }) => <span class="wrap">{context ?? '–'}</span>, narrow: 'aside' },
  { name: 'Created', cell: ({ created_at }) => <Time of={created_at} precise /> },
  { name: 'Contract', cell: ({ contract_id }) => <Id of={contract_id} what="the contract id" /> },
];

/** The most in one answer. */
const LOCKS_MAX = 1000;

/** What is locked, until when and for whom. */
export function LocksCard({ party, chosen, here }: Omit<MovementsProps, 'changed'>): JSX.Element {
  const pages = usePages('locks');
  const first = { migration_id: here.migration, record_time: here.snapshot.record_time, ...chosen };
  const request = locksRequest(party, pageQuery(pages, first));
  return (
    <AnswerCard title="Locks" request={request} csv={csvOf(locksRequest(party, first), true)} lines={4}>
      {({ locks, unlocking, next_page_token }) => (
        <>
          {(locks.length > 0 || pages.number > 1) && (
            <>
              <dl class="figures small">
                <Figure name="Unlocks in 1 day" amount={unlocking['1d']} />
                <Figure name="In 7 days" amount={unlocking['7d']} />
                <Figure name="In 30 days" amount={unlocking['30d']} />
              </dl>
              <Unlocking party={party} first={first} />
            </>
          )}
          <Table
            caption="Locks, the first to expire first"
            columns={LOCK_COLUMNS}
            rows={locks}
            keyOf={({ contract_id }) => contract_id}
            empty="Nothing of this party is locked at this snapshot."
          />
          <Pager pages={pages} next={next_page_token} count={locks.length} what="locks" />
        </>
      )}
    </AnswerCard>
  );
}

const DAYS = 30;

/** What unlocks on each of the next days, as bars. */
function Unlocking({
  party,
  first,
}: {
  party: string;
  first: { record_time: string; migration_id: string };
}): JSX.Element {
  return (
    <AnswerCard
      title="Unlocking in the next 30 days"
      class="inner"
      request={locksRequest(party, { ...first, limit: LOCKS_MAX })}
      lines={3}
    >
      {({ locks, next_page_token }) => {
        const start = Date.parse(first.record_time);
        const days = Array.from({ length: DAYS }, (_, day) => {
          const [from, to] = [start + day * DAY_MS, start + (day + 1) * DAY_MS];
          const within = ({ expires_at, expired }: Lock): boolean =>
            !expired && expires_at !== null && Date.parse(expires_at) > from && Date.parse(expires_at) <= to;
          return { to, amount: sum(locks.filter(within).map(({ amount }) => amount)) };
        });
        const largest = days.map(({ amount }) => amount).reduce((a, b) => (pixels(a) > pixels(b) ? a : b));
        if (pixels(largest) === 0) return <Empty>Nothing unlocks in the next {DAYS} days.</Empty>;
        return (
          <>
            <ol class="days" aria-label="Amounts by day">
              {days.map(({ to, amount }) => (
                <li key={to} title={`until ${instant(to)}: ${amount}`}>
                  <span class="day-bar" style={{ height: `${percentOf(amount, largest)}%` }} />
                  <span class="day">{instant(to).slice(5, 10)}</span>
                  <span class="hidden">
                    <Amount of={amount} />
                  </span>
                </li>
              ))}
            </ol>
            {next_page_token !== null && <p class="faint">Of the first {LOCKS_MAX} locks.</p>}
          </>
        );
      }}
    </AnswerCard>
  );
}

type Period = Statement['periods'][number];

interface StatementProps extends Omit<MovementsProps, 'here'> {
  readonly migration: string;
}

/** What came and went in each month, with files of its days and its movements. */
export function StatementCard({ party, chosen, migration, changed }: StatementProps): JSX.Element {
  const request = statementRequest(party, { migration_id: migration, every: '1mo', ...chosen });
  const columns: readonly Column<Period>[] = [
    { name: 'Month', cell: ({ to }) => <b>{monthOf(to)}</b>, narrow: 'head' },
    amountColumn('Opening', ({ opening }) => opening),
    amountColumn('Received', ({ received }) => received, { narrow: 'sub' }),
    amountColumn('Sent', ({ sent }) => sent, { narrow: 'aside' }),
    changeColumn('Locked change', ({ locked_change }) => locked_change),
    amountColumn('Closing', ({ closing }) => closing, { narrow: 'value' }),
    {
      name: 'Save',
      cell: ({ from, to }) => {
        const range = { ...chosen, migration_id: migration, from: microAfter(from.replace(/\.\d+Z$/, 'Z')), to };
        const whole = from.includes('.') ? { ...range, from: undefined } : range;
        return (
          <span class="saves">
            <a href={csvOf(statementRequest(party, { ...whole, every: '1d' }), false).url} download>
              days
            </a>
            <a href={csvOf(movementsRequest(party, whole), true).url} download>
              movements
            </a>
          </span>
        );
      },
    },
  ];
  return (
    <AnswerCard title="Statement" request={request} csv={csvOf(request, false)} refresh={changed} lines={3}>
      {({ periods }) => (
        <Table
          caption="Months, the last first"
          columns={columns}
          rows={periods.toReversed()}
          keyOf={({ to }) => to}
          empty="Nothing of this party ever moved."
        />
      )}
    </AnswerCard>
  );
}

/** `2025-02` of a period that ends with the first moment of March. */
function monthOf(to: string): string {
  return new Date(Date.parse(to) - 1).toISOString().slice(0, 7);
}
