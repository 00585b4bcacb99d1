import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ParametersOf } from '../../../client/src/index.ts';
import { pageLink } from '../data/address.ts';
import { allMovementsRequest, client, type RequestError, type Snapshot, snapshotsRequest } from '../data/api.ts';
import { decimalOf, unitsOf } from '../data/decimal.ts';
import { useAnswer } from '../data/hooks.ts';
import type { Live } from '../data/stream.ts';
import { durationMs, microAfter, showTime } from '../data/time.ts';
import { Answered, Card, Empty } from '../parts/card.tsx';
import { SnapshotFigures, snapshotLink } from '../parts/snapshot-figures.tsx';
import { Command } from '../parts/state.tsx';
import { changeColumn, Table } from '../parts/table.tsx';
import { Figure, Id, Party, Time } from '../parts/values.tsx';
import { HoldersCard } from './holders.tsx';

interface Props {
  readonly migration: string;
  readonly time: string;
  readonly live: Live;
}

/** One snapshot: the supply, the holders, who moved since the one before, and how to prove it. */
export function SnapshotPage({ migration, time, live }: Props): JSX.Element {
  const around = { migration_id: migration };
  const request = snapshotsRequest({ ...around, to: time, limit: 2 });
  const asked = useAnswer(request);
  const following = snapshotsRequest({ ...around, from: microAfter(time), order: 'asc', limit: 1 });
  const next = useAnswer(following, live.snapshot).answer?.snapshots[0];
  return (
    <Answered asked={asked} lines={6} titles={['Totals', 'Proof', 'Who moved most']}>
      {({ snapshots: [snapshot, before], period }) => {
        if (snapshot === undefined || snapshot.record_time !== time)
          return (
            <Empty>
              There is no snapshot of exactly {showTime(time)} UTC in migration {migration}.{' '}
              {snapshot && (
                <>
                  The one before it is{' '}
                  <a href={snapshotLink(migration, snapshot.record_time)}>{showTime(snapshot.record_time)} UTC</a>.
                </>
              )}
            </Empty>
          );
        const here = { migration, periodMs: durationMs(period), newest: snapshot, snapshot, at: null };
        return (
          <>
            <nav class="steps" aria-label="Snapshots beside this one">
              {before && <a href={snapshotLink(migration, before.record_time)}>← {showTime(before.record_time)}</a>}
              <b>
                <Time of={time} />
              </b>
              {next && <a href={snapshotLink(migration, next.record_time)}>{showTime(next.record_time)} →</a>}
              <a href={pageLink('', { at: time, migration })}>Show all pages at this time</a>
            </nav>
            <div class="grid">
              <Card title="Totals" class="wide" requests={[request]}>
                <SnapshotFigures snapshot={snapshot} />
              </Card>
              <ProofCard migration={migration} snapshot={snapshot} />
              <MoversCard key={time} migration={migration} time={time} before={before?.record_time} />
              <HoldersCard here={here} title="Largest holders" />
            </div>
          </>
        );
      }}
    </Answered>
  );
}

function ProofCard({ migration, snapshot }: { readonly migration: string; readonly snapshot: Snapshot }): JSX.Element {
  const { record_time: time, digest, changes_digest: changes } = snapshot;
  const range = `--migration ${migration} --from ${time} --to ${time}`;
  return (
    <Card title="Proof" class="wide" requests={[]}>
      <dl class="figures small">
        <Figure name="Digest of all up to it">
          {digest ? <Id of={digest} what="the digest" /> : 'none, it was forced'}
        </Figure>
        <Figure name="Digest of its changes">
          {changes ? <Id of={changes} what="the digest of the changes" /> : 'none, it was forced'}
        </Figure>
      </dl>
      <p class="faint">
        Two Holdfasts with the same digest hold the same. To compare with another, or to add everything up again:
      </p>
      <Command text={`holdfast compare https://other.example ${range}`} />
      <Command text="holdfast verify" />
    </Card>
  );
}

interface Mover {
  readonly party: string;
  readonly total: string;
  readonly unlocked: string;
  readonly locked: string;
}

interface Moved {
  readonly movers: readonly Mover[];
  readonly movements: number;
  /** Whether the interval has more movements than were read. */
  readonly isCut: boolean;
}

const MOVERS_MAX = 10;
const PAGE = 1000;
const MOVEMENTS_MAX = 10 * PAGE;
type MovementsQuery = ParametersOf<'/holdfast/v1/movements'>;

/** Who moved most since the snapshot before: the sums of the movements in between. */
function MoversCard({
  migration,
  time,
  before,
}: {
  migration: string;
  time: string;
  before: string | undefined;
}): JSX.Element {
  const first = { migration_id: migration, from: before && microAfter(before), to: time, limit: PAGE };
  const [moved, setMoved] = useState<Moved | null>(null);
  const [error, setError] = useState<RequestError | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    readMoved(first, stop.signal).then(setMoved, (fault) => !stop.signal.aborted && setError(fault));
    return () => stop.abort();
  }, [attempt]);
  const retry = (): void => {
    setError(null);
    setAttempt(attempt + 1);
  };
  return (
    <Card
      title="Who moved most"
      class="wide"
      requests={[allMovementsRequest(first)]}
      busy={moved === null && error === null}
    >
      <Answered asked={{ answer: moved, error, busy: false, isCurrent: true, retry }} lines={4}>
        {({ movers, movements, isCut }) => (
          <>
            <p class="faint">
              {isCut ? `The last ${movements} movements` : `${movements} movements`}{' '}
              {before === undefined ? 'up to this first snapshot' : `since the snapshot of ${showTime(before)} UTC`}
              {movers.length === MOVERS_MAX && `, the ${MOVERS_MAX} largest sums`}.
            </p>
            <Table
              caption="Owners by the change of their total"
              rows={movers}
              keyOf={({ party }) => party}
              empty="Nothing moved."
              columns={[
                { name: 'Owner', cell: ({ party }) => <Party id={party} />, narrow: 'head' },
                changeColumn('Change', ({ total }: Mover) => total, { gain: true, narrow: 'value' }),
                changeColumn('Unlocked change', ({ unlocked }: Mover) => unlocked),
                changeColumn('Locked change', ({ locked }: Mover) => locked, { narrow: 'aside' }),
              ]}
            />
          </>
        )}
      </Answered>
    </Card>
  );
}

async function readMoved(first: MovementsQuery, signal: AbortSignal): Promise<Moved> {
  const sums = new Map<string, { total: bigint; unlocked: bigint; locked: bigint }>();
  let movements = 0;
  let isCut = false;
  for await (const page of client.pages('/holdfast/v1/movements', first, { signal })) {
    for (const { party_id, change_total, change_unlocked, change_locked } of page.movements) {
      // Coin always has an owner.
      if (party_id === null) continue;
      const { total, unlocked, locked } = sums.get(party_id) ?? { total: 0n, unlocked: 0n, locked: 0n };
      sums.set(party_id, {
        total: total + unitsOf(change_total),
        unlocked: unlocked + unitsOf(change_unlocked),
        locked: locked + unitsOf(change_locked),
      });
    }
    movements += page.movements.length;
    isCut = page.next_page_token !== null;
    if (movements >= MOVEMENTS_MAX) break;
  }
  const size = (units: bigint): bigint => (units < 0n ? -units : units);
  const movers = [...sums]
    .sort(([, a], [, b]) => Number(size(b.total) - size(a.total)) || Number(size(b.locked) - size(a.locked)))
    .slice(0, MOVERS_MAX)
    .map(([party, { total, unlocked, locked }]) => ({
      party,
      total: decimalOf(total),
      unlocked: decimalOf(unlocked),
      locked: decimalOf(locked),
    }));
  return { movers, movements, isCut };
}
