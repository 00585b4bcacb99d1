import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { goTo, ownerLink, useAddress } from '../data/address.ts';
import {
  type Changes,
  changesRequest,
  csvOf,
  feesRequest,
  type History,
  type Holding,
  historyRequest,
  type Shown,
  type SummaryV0,
  totalsRequest,
} from '../data/api.ts';
import { type Asked, useAnswer, usePaced } from '../data/hooks.ts';
import type { Live } from '../data/stream.ts';
import { fieldOf, showTime, timeOfField } from '../data/time.ts';
import { AnswerCard, Answered, Card, Empty } from '../parts/card.tsx';
import { Chart } from '../parts/chart.tsx';
import { ChartCard } from '../parts/chart-card.tsx';
import { amountColumn, type Column, Pager, pageQuery, Table, usePages } from '../parts/table.tsx';
import { CopyButton, Figure, partyParts, Time } from '../parts/values.tsx';
import { ContractsCard } from './contracts.tsx';

const PACE_MS = 2_000;
const NONE = '0.0000000000';

interface OwnerProps {
  readonly party: string;
  readonly here: Shown;
  readonly live: Live;
}

/** The holdings of one party. The address names the snapshot and the round, so that a link shows the same. */
export function OwnerPage({ party, here, live }: OwnerProps): JSX.Element {
  const { query } = useAddress();
  const at = query.get('at');
  const round = query.get('round') ?? undefined;
  const shown = usePaced(here, PACE_MS);
  const holding = { migration: shown.migration, time: at ?? shown.newest.record_time, party };
  const changed = usePaced(live.ownerChange, PACE_MS);
  const { name, fingerprint } = partyParts(party);
  return (
    <>
      <div class="party-head">
        <p class="party-name" aria-hidden="true">
          {name}
        </p>
        <p class="party-id">
          <code>
            {name}
            {fingerprint === '' ? '' : '::'}
            {fingerprint}
          </code>
          <CopyButton text={party} what="the party id" />
        </p>
      </div>
      <div class="grid">
        <TotalsCard
          holding={holding}
          round={round}
          title={at === null ? 'Holdings now' : `Holdings at ${showTime(at)} UTC`}
        >
          <TimeForm key={`${at} ${round}`} {...{ party, at, round, here }} />
        </TotalsCard>
        <ChartCard
          title="Balance over time"
          here={shown}
          ask={(range) => historyRequest(party, range)}
          paged={false}
          refresh={changed}
        >
          {(history, { zoom }) => <Balance history={history} zoom={zoom} />}
        </ChartCard>
        <ChangesCard party={party} migration={shown.migration} changed={changed} />
        <ContractsCard holding={holding} isChosen={at !== null} />
      </div>
    </>
  );
}

interface TimeFormProps {
  readonly party: string;
  readonly at: string | null;
  readonly round: string | undefined;
  readonly here: Shown;
}

/** Chooses the snapshot and the round; if empty, the newest snapshot and the lowest open round. */
function TimeForm({ party, at, round, here }: TimeFormProps): JSX.Element {
  const [time, setTime] = useState(at === null ? '' : fieldOf(at));
  const [asOf, setAsOf] = useState(round ?? '');
  const show = (query: { at?: string | undefined; round?: string | undefined }): void =>
    goTo(ownerLink(party, { migration: here.migration, ...query }));
  return (
    <form
      class="moment"
      onSubmit={(event) => {
        event.preventDefault();
        show({ at: time === '' ? undefined : timeOfField(time), round: asOf === '' ? undefined : asOf });
      }}
    >
      <label>
        <span>At (UTC)</span>
        <input
          type="datetime-local"
          step="1"
          value={time}
          max={fieldOf(here.newest.record_time)}
          onInput={({ currentTarget }) => setTime(currentTarget.value)}
        />
      </label>
      <label>
        <span>Fees as of round</span>
        <input
          type="text"
          inputMode="numeric"
          pattern="-?[0-9]{1,19}"
          title="A whole number"
          placeholder="lowest open"
          value={asOf}
          onInput={({ currentTarget }) => setAsOf(currentTarget.value.trim())}
        />
      </label>
      <button type="submit" class="tool main">
        Show
      </button>
      {(at !== null || round !== undefined) && (
        <button type="button" class="tool" onClick={() => show({})}>
          Now
        </button>
      )}
    </form>
  );
}

interface TotalsProps {
  readonly title: string;
  readonly holding: Holding;
  readonly round: string | undefined;
  readonly children: ComponentChildren;
}

/** Totals and fees at a snapshot. Totals need no round, and are shown even if no round is known for the fees. */
function TotalsCard({ title, holding, round, children }: TotalsProps): JSX.Element {
  const [ofTotals, ofFees] = [totalsRequest(holding), feesRequest(holding, round)];
  const [totals, fees] = [useAnswer(ofTotals), useAnswer(ofFees)];
  return (
    <Card title={title} class="wide" requests={[ofTotals, ofFees]} busy={totals.busy || fees.busy} aside={children}>
      <Answered asked={totals} lines={4}>
        {({ record_time, summaries: [summary] }) => {
          const total = summary?.total_coin_holdings ?? NONE;
          return (
            <>
              <p class="faint">
                Snapshot of <Time of={record_time} />
              </p>
              {total === NONE && <p class="note">This party has no coin at this snapshot.</p>}
              <dl class="figures">
                <Figure name="Total" large amount={total} />
                <Figure name="Unlocked" swatch="unlocked" amount={summary?.total_unlocked_coin ?? NONE} />
                <Figure name="Locked" swatch="locked" amount={summary?.total_locked_coin ?? NONE} />
              </dl>
            </>
          );
        }}
      </Answered>
      <Fees asked={fees} />
    </Card>
  );
}

function Fees({ asked }: { readonly asked: Asked<SummaryV0> }): JSX.Element {
  if (asked.error !== null && !asked.error.isTemporary) return <p class="note">No fees: {asked.error.message}</p>;
  return (
    <Answered asked={asked} lines={2}>
      {({ computed_as_of_round, summaries: [summary] }) => (
        <>
          <h3>Holding fees as of round {String(computed_as_of_round)}</h3>
          <dl class="figures small">
            <Figure name="On unlocked" amount={summary?.accumulated_holding_fees_unlocked ?? NONE} />
            <Figure name="On locked" amount={summary?.accumulated_holding_fees_locked ?? NONE} />
            <Figure name="Total fees" amount={summary?.accumulated_holding_fees_total ?? NONE} />
            <Figure name="Available (unlocked minus its fees)" amount={summary?.total_available_coin ?? NONE} />
          </dl>
        </>
      )}
    </Answered>
  );
}

interface BalanceProps {
  readonly history: History;
  readonly zoom: (from: string, to: string) => void;
}

function Balance({ history, zoom }: BalanceProps): JSX.Element {
  const points = useMemo(
    () =>
      history.points.map((point) => ({
        time: point.record_time,
        unlocked: point.unlocked,
        locked: point.locked,
        total: point.total,
      })),
    [history],
  );
  if (points.length === 0) return <Empty>No snapshot lies in this range.</Empty>;
  if (history.points.every(({ contracts }) => contracts === 0))
    return <Empty>This party had no coin at any of these {points.length} snapshots.</Empty>;
  return <Chart name="Balance over time" points={points} zoom={zoom} />;
}

const CHANGE_PAGE = 10;

const CHANGE_COLUMNS: readonly Column<Changes['changes'][number]>[] = [
  { name: 'Snapshot', cell: ({ record_time }) => <Time of={record_time} /> },
  amountColumn('Unlocked change', ({ change_unlocked }) => change_unlocked, true),
  amountColumn('Locked change', ({ change_locked }) => change_locked, true),
  amountColumn('Unlocked', ({ unlocked }) => unlocked),
  amountColumn('Locked', ({ locked }) => locked),
  amountColumn('Contracts', ({ contracts }) => contracts),
];

interface ChangesProps {
  readonly party: string;
  readonly migration: string;
  readonly changed: string | null;
}

/** The snapshots at which the holdings of the party changed, newest first. */
function ChangesCard({ party, migration, changed }: ChangesProps): JSX.Element {
  const pages = usePages('changes');
  const first = { migration_id: migration };
  return (
    <AnswerCard
      title="Changes"
      request={changesRequest(party, pageQuery(pages, first, CHANGE_PAGE))}
      refresh={changed}
      csv={csvOf(changesRequest(party, first), true)}
      lines={CHANGE_PAGE}
    >
      {({ changes, next_page_token }) => (
        <>
          <Table
            caption="Changes of the balance"
            columns={CHANGE_COLUMNS}
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
