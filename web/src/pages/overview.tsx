import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { linkTo } from '../data/address.ts';
import {
  type ApiRequest,
  csvOf,
  type Shown,
  type Snapshot,
  type Snapshots,
  type Status,
  snapshotsRequest,
  statusRequest,
  type Top,
  topRequest,
} from '../data/api.ts';
import { percentOf, percentOfShare, pixels, subtract } from '../data/decimal.ts';
import { type Asked, useAnswer, useNow, usePaced } from '../data/hooks.ts';
import { type Live, serviceState } from '../data/stream.ts';
import { ageOf, POINTS_MAX, type Range, showSpan, showTime } from '../data/time.ts';
import { AnswerCard, Answered, Card, Choice, Empty } from '../parts/card.tsx';
import { Chart } from '../parts/chart.tsx';
import { ChartCard } from '../parts/chart-card.tsx';
import { amountColumn, type Column, Pager, pageQuery, Table, usePages } from '../parts/table.tsx';
import { Amount, Digest, Figure, Party, Time } from '../parts/values.tsx';

/** While a backlog is read there is a new snapshot every second: the chart and the holders follow less often. */
const PACE_MS = 5_000;
const AGE_INTERVAL_MS = 1_000;

interface FeedProps {
  readonly live: Live;
  readonly status: Asked<Status>;
}

interface OverviewProps extends FeedProps {
  readonly here: Shown;
  readonly newest: Asked<Snapshots>;
}

export function OverviewPage({ here, live, status, newest }: OverviewProps): JSX.Element {
  const paced = usePaced(here, PACE_MS);
  return (
    <div class="grid">
      <NewestCard here={here} asked={newest} />
      <FeedCard live={live} status={status} />
      <SupplyCard here={paced} />
      <HoldersCard here={paced} />
    </div>
  );
}

const SOURCES = `No source is configured. Restart the service with one, such as:

holdfast serve --scan https://scan.sv-1.example
holdfast serve --ledger-api https://participant.example --ledger-api-parties all
holdfast serve --file history.ndjson`;

/** The overview before the first snapshot, or for a migration without snapshots. */
export function NoSnapshotsPage({ live, status, message }: FeedProps & { readonly message: string }): JSX.Element {
  return (
    <div class="grid">
      <section class="card wide">
        <Empty>
          <p>
            <b>{message}.</b>
          </p>
          <p>A snapshot is sealed when an update later than its time arrives. Then it appears here.</p>
          {serviceState(live, status.answer).isStored && status.answer?.source === null && <pre>{SOURCES}</pre>}
        </Empty>
      </section>
      <FeedCard live={live} status={status} />
    </div>
  );
}

function NewestCard({ here, asked }: { readonly here: Shown; readonly asked: Asked<Snapshots> }): JSX.Element {
  const now = useNow(AGE_INTERVAL_MS);
  const { record_time, forced, owners, contracts, unlocked, locked, total, digest } = here.newest;
  const lockedPercent = percentOf(locked, total);
  return (
    <Card
      title="Newest snapshot"
      class="newest"
      requests={[snapshotsRequest({ migration_id: here.migration, limit: 1 })]}
      aside={
        <span class="faint">
          <Time of={record_time} /> · {ageOf(record_time, now)}
          {forced && ' · forced'}
        </span>
      }
    >
      {asked.error !== null && <p class="stale">Last refresh failed: {asked.error.message}</p>}
      <dl class="figures">
        <Figure name="Total supply" large amount={total} />
        <Figure name="Unlocked" swatch="unlocked" amount={unlocked} />
        <Figure name="Locked" swatch="locked" amount={locked}>
          <span class="faint"> {lockedPercent} %</span>
        </Figure>
        <Figure name="Owners with coin" amount={String(owners)} />
        <Figure name="Coin contracts" amount={String(contracts)} />
        <Figure name="Digest" wide>
          <Digest of={digest} />
        </Figure>
      </dl>
      <div class="bar" role="img" aria-label={`${lockedPercent} % of the supply is locked`}>
        <span class="bar-locked" style={{ width: `${pixels(lockedPercent)}%` }} />
      </div>
    </Card>
  );
}

/** The state of the feed: the newest facts from the stream, the others from /status. */
function FeedCard({ live, status }: FeedProps): JSX.Element {
  return (
    <Card title="Feed" requests={[statusRequest, { url: linkTo('holdfast/v1/stream') }]}>
      <Answered asked={status} lines={5}>
        {(answer) => <Feed live={live} status={answer} />}
      </Answered>
    </Card>
  );
}

function Feed({ live, status }: { readonly live: Live; readonly status: Status }): JSX.Element {
  const { tone, text, reasons } = serviceState(live, status);
  const updates = live.status?.updates ?? status.counts?.updates;
  const letters = Object.entries(status.dead_letters).filter(([, count]) => count > 0);
  const halted = live.status?.halted ?? null;
  const errors = status.source?.network?.errors_in_a_row ?? 0;
  return (
    <>
      <p class={`phase ${tone}`}>
        <span class="dot" aria-hidden="true" />
        {text}
      </p>
      {halted !== null && (
        <div class="note failure wrap" role="alert">
          <p>
            <b>{halted.reason}</b>
          </p>
          <p>{halted.location}</p>
          {status.halted && <p>To continue: {status.halted.next}</p>}
        </div>
      )}
      {[...(halted === null ? reasons : []), ...(live.status?.degraded ?? [])].map((line) => (
        <p class="note warning wrap" key={line}>
          {line}
        </p>
      ))}
      <dl class="facts">
        <Figure name="Source">{status.source?.name ?? 'none'}</Figure>
        {errors > 0 && <Figure name="Consecutive errors">{String(errors)}</Figure>}
        <Figure name="Lag">{lagText(live)}</Figure>
        <Figure name="Updates/s">{live.rate === null ? '–' : Math.round(live.rate)}</Figure>
        <Figure name="Updates applied">{updates === undefined ? '–' : String(updates)}</Figure>
        <Figure name="Dead letters">
          {letters.length === 0 ? 'none' : letters.map(([kind, count]) => `${count} ${kind}`).join(', ')}
        </Figure>
      </dl>
    </>
  );
}

function lagText({ status }: Live): string {
  if (status === null || status.lag_seconds === null || status.source === null) return '–';
  return status.lag_seconds < 1 ? 'none' : showSpan(status.lag_seconds);
}

function SupplyCard({ here }: { readonly here: Shown }): JSX.Element {
  return (
    <ChartCard
      title="Supply over time"
      here={here}
      ask={(query) => snapshotsRequest({ ...query, order: 'asc', limit: POINTS_MAX })}
      paged
      others={(range) => endsOf(here, range)}
    >
      {({ snapshots }, { range, zoom }) => (
        <>
          <SupplyChange here={here} range={range} />
          <Supply snapshots={snapshots} end={range.to === here.newest.record_time ? here.newest : null} zoom={zoom} />
        </>
      )}
    </ChartCard>
  );
}

interface SupplyProps {
  readonly snapshots: readonly Snapshot[];
  /** The newest snapshot, if the range ends there: it may lie between two steps. */
  readonly end: Snapshot | null;
  readonly zoom: (from: string, to: string) => void;
}

function Supply({ snapshots, end, zoom }: SupplyProps): JSX.Element {
  const points = useMemo(() => {
    const isIncluded = end === null || snapshots.at(-1)?.record_time === end.record_time;
    return (isIncluded ? snapshots : [...snapshots, end]).map((snapshot) => ({
      time: snapshot.record_time,
      unlocked: snapshot.unlocked,
      locked: snapshot.locked,
      total: snapshot.total,
    }));
  }, [snapshots, end]);
  if (points.length === 0) return <Empty>No snapshot of this step lies in this range.</Empty>;
  return <Chart name="Supply over time" points={points} zoom={zoom} />;
}

/** The requests for the newest snapshots at or before the two ends of a range. */
function endsOf({ migration }: Shown, { from, to }: Range): readonly [ApiRequest<Snapshots>, ApiRequest<Snapshots>] {
  const at = (time: string) => snapshotsRequest({ migration_id: migration, to: time, limit: 1 });
  return [at(from), at(to)];
}

/** The difference of the supply between the two ends of the range, independent of the step. */
function SupplyChange({ here, range }: { readonly here: Shown; readonly range: Range }): JSX.Element {
  const [atFrom, atTo] = endsOf(here, range);
  const [start, end] = [useAnswer(atFrom), useAnswer(atTo)];
  const [first, last] = [start.answer?.snapshots[0], end.answer?.snapshots[0]];
  const error = start.error ?? end.error;
  return (
    <p class="change faint" aria-busy={start.busy || end.busy}>
      {first && last ? (
        <>
          <Amount of={subtract(last.total, first.total)} signed /> from <Time of={first.record_time} /> to{' '}
          <Time of={last.record_time} />
        </>
      ) : (
        (error?.message ?? (start.answer && !first && `No snapshot at or before ${showTime(range.from)} UTC.`))
      )}
    </p>
  );
}

type Holder = Top['owners'][number];

const PAGE = 10;
const ORDERS = { total: 'Total', unlocked: 'Unlocked', locked: 'Locked' } as const;

function HoldersCard({ here }: { readonly here: Shown }): JSX.Element {
  const [by, setBy] = useState<keyof typeof ORDERS>('total');
  const pages = usePages(by);
  // A later page stays at the snapshot of the first, which its token names.
  const first = { migration_id: here.migration, record_time: here.newest.record_time, by };
  return (
    <AnswerCard
      title="Largest holders"
      request={topRequest(pageQuery(pages, first, PAGE))}
      csv={csvOf(topRequest(first), true)}
      aside={<Choice label="Order by" of={ORDERS} value={by} choose={setBy} />}
      lines={PAGE}
    >
      {({ record_time, owners, owners_total, next_page_token }) => (
        <>
          <Table
            caption={`The largest holders, by ${ORDERS[by].toLowerCase()}`}
            columns={holderColumns(here.migration)}
            rows={owners}
            keyOf={({ party_id }) => party_id}
            empty="No owner has coin at this snapshot."
          />
          <Pager
            pages={pages}
            next={next_page_token}
            note={`· ${owners_total} owners with coin at ${showTime(record_time)} UTC`}
          />
        </>
      )}
    </AnswerCard>
  );
}

function holderColumns(migration: string): readonly Column<Holder>[] {
  return [
    { name: 'Rank', cell: ({ rank }) => rank },
    { name: 'Owner', cell: ({ party_id }) => <Party id={party_id} migration={migration} /> },
    amountColumn('Unlocked', ({ unlocked }) => unlocked),
    amountColumn('Locked', ({ locked }) => locked),
    amountColumn('Total', ({ total }) => total),
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
