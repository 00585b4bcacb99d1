import type { JSX } from 'preact';
import { linkTo } from '../data/address.ts';
import {
  type ApiRequest,
  instrumentsRequest,
  type Shown,
  type Snapshots,
  type Status,
  snapshotsRequest,
  statusRequest,
} from '../data/api.ts';
import { subtract } from '../data/decimal.ts';
import { type Asked, useAnswer, useNow, usePacedHere } from '../data/hooks.ts';
import { COIN, INSTRUMENTS_MAX } from '../data/labels.ts';
import { type Live, serviceState } from '../data/stream.ts';
import { ageOf, POINTS_MAX, type Range, showSpan, showTime } from '../data/time.ts';
import { Answered, Card } from '../parts/card.tsx';
import { ChartCard } from '../parts/chart-card.tsx';
import { SnapshotFigures, snapshotLink } from '../parts/snapshot-figures.tsx';
import { Command } from '../parts/state.tsx';
import { Amount, Figure, Time } from '../parts/values.tsx';
import { GroupsCard, HoldersCard } from './holders.tsx';

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
  const paced = usePacedHere(here, PACE_MS);
  return (
    <div class="grid">
      <SnapshotCard here={here} asked={newest} dso={status.answer?.dso} />
      <FeedCard live={live} status={status} />
      <SupplyCard here={paced} />
      <GroupsCard here={paced} />
      <HoldersCard here={paced} title="Largest holders" />
    </div>
  );
}

/** What `serve` reads, a line each. */
const SOURCES = [
  'holdfast serve --scan https://scan.sv-1.example',
  'holdfast serve --ledger-api https://participant.example --ledger-api-parties all --migration-id 0',
  'holdfast serve --file history.ndjson',
];

/** Before the first snapshot, or for a migration without snapshots. */
export function NoSnapshotsPage({
  live,
  status,
  migration,
}: FeedProps & { readonly migration?: string | undefined }): JSX.Element {
  const isUnfed = serviceState(live, status.answer).isStored && status.answer?.source === null;
  return (
    <div class="grid">
      <section class="card top-aligned">
        {isUnfed ? (
          <>
            <h2>Nothing is read yet</h2>
            <p>This service has no source, and its directory has no data. Start it with one of these:</p>
            {SOURCES.map((line) => (
              <Command key={line} text={line} />
            ))}
          </>
        ) : (
          <>
            <h2>{migration === undefined ? 'No snapshot yet' : `No snapshot of migration ${migration}`}</h2>
            <p>A snapshot is sealed when an update later than its time arrives. Then it appears here.</p>
          </>
        )}
      </section>
      <FeedCard live={live} status={status} />
    </div>
  );
}

/** After as many periods without a snapshot the newest one is old. */
const PERIODS_MAX = 3;

interface SnapshotProps {
  readonly here: Shown;
  readonly asked: Asked<Snapshots>;
  readonly dso: string | null | undefined;
}

function SnapshotCard({ here, asked, dso }: SnapshotProps): JSX.Element {
  const ofInstruments = instrumentsRequest({ migration_id: here.migration, limit: INSTRUMENTS_MAX });
  const { instruments = [] } = useAnswer(dso == null ? null : ofInstruments).answer ?? {};
  const scope = instruments.find(({ admin, id }) => admin === dso && id === COIN)?.scope;
  const now = useNow(AGE_INTERVAL_MS);
  const { record_time, forced } = here.snapshot;
  const isOld = here.at === null && now - Date.parse(record_time) > PERIODS_MAX * here.periodMs;
  return (
    <Card
      title={here.at === null ? 'Newest snapshot' : 'Snapshot'}
      class="newest"
      requests={[snapshotsRequest({ migration_id: here.migration, to: here.at ?? undefined, limit: 1 })]}
      aside={
        <span class="faint">
          <a href={snapshotLink(here.migration, record_time)}>
            <Time of={record_time} />
          </a>{' '}
          · <span class={isOld ? 'old' : ''}>{ageOf(record_time, now)}</span>
          {forced && ' · forced'}
        </span>
      }
    >
      {asked.error !== null && <p class="stale">Last refresh failed: {asked.error.message}</p>}
      <SnapshotFigures snapshot={here.snapshot} />
      {scope === 'followed' && <p class="faint">Of the owners that this service follows, not of all.</p>}
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
  const { tone, text } = serviceState(live, status);
  const updates = live.status?.updates ?? status.counts?.updates;
  const letters = Object.entries(status.dead_letters).filter(([, count]) => count > 0);
  const errors = status.source?.network?.errors_in_a_row ?? 0;
  return (
    <>
      <p class={`phase ${tone}`}>
        <span class="dot" aria-hidden="true" />
        {text}
      </p>
      <dl class="facts">
        <Figure name="Source">{status.source?.name ?? 'none'}</Figure>
        {errors > 0 && <Figure name="Consecutive errors">{String(errors)}</Figure>}
        <Figure name="Lag">{lagText(live)}</Figure>
        <Figure name="Updates/s">{live.rate === null ? '–' : Math.round(live.rate)}</Figure>
        <Figure name="Updates since the start">{updates === undefined ? '–' : String(updates)}</Figure>
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
      title="Total over time"
      here={here}
      ask={(query) => snapshotsRequest({ ...query, order: 'asc', limit: POINTS_MAX })}
      paged
      others={(range) => endsOf(here, range)}
      above={(range) => <SupplyChange here={here} range={range} />}
      // The newest snapshot may lie between two steps.
      pointsOf={({ snapshots }, { to }) =>
        to === here.newest.record_time && snapshots.at(-1)?.record_time !== to ? [...snapshots, here.newest] : snapshots
      }
    />
  );
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
          <Amount of={subtract(last.total, first.total)} gain unit /> from <Time of={first.record_time} /> to{' '}
          <Time of={last.record_time} />
        </>
      ) : (
        (error?.message ?? (start.answer && !first && `No snapshot at or before ${showTime(range.from)} UTC.`))
      )}
    </p>
  );
}
