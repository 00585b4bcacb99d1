import { type JSX, render } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { type Address, AddressContext, linkTo, useLocation } from './data/address.ts';
import { type Shown, type Snapshots, type Status, snapshotsRequest, statusRequest } from './data/api.ts';
import { useAnswer, useNow } from './data/hooks.ts';
import { useLive } from './data/stream.ts';
import { durationMs } from './data/time.ts';
import { Header } from './header.tsx';
import { NoSnapshotsPage, OverviewPage } from './pages/overview.tsx';
import { OwnerPage } from './pages/owner.tsx';
import { SnapshotsPage } from './pages/snapshots.tsx';
import { TokensPage } from './pages/tokens.tsx';
import { Answered } from './parts/card.tsx';
import { isParty } from './parts/values.tsx';

/** Polling of /status while the service is not ready. */
const STATUS_INTERVAL_MS = 5_000;

function App(): JSX.Element {
  const address = useLocation();
  const party = partyOf(address);
  const live = useLive(party !== null && isParty(party) ? party : null);
  const migration = address.query.get('migration') ?? undefined;
  const newest = useAnswer(snapshotsRequest({ migration_id: migration, limit: 1 }), live.snapshot);
  // The stream has these two; any other change is a reason to read /status.
  const { updates: _updates, lag_seconds: _lag, ...others } = live.status ?? {};
  // While the source fails, fields of /status change that the stream does not have.
  const tick = useNow(STATUS_INTERVAL_MS);
  const status = useAnswer(
    statusRequest,
    JSON.stringify([others, live.snapshot?.split(' ')[0], live.status?.ready === false && tick]),
  );
  const here = useMemo(() => newest.answer && hereOf(newest.answer), [newest.answer]);
  const title = titleOf(address, party);
  useEffect(() => {
    document.title = `${title} · Holdfast`;
    // Screen readers and the keyboard start here, as after a load.
    document.querySelector('h1')?.focus();
  }, [title]);
  const page = (here: Shown): JSX.Element => {
    if (party !== null && !isParty(party)) return <NotAParty text={party} />;
    if (party !== null) return <OwnerPage key={party} party={party} here={here} live={live} />;
    if (address.path === 'tokens') return <TokensPage key={here.migration} here={here} />;
    if (address.path === 'snapshots') return <SnapshotsPage key={here.migration} here={here} />;
    return <OverviewPage key={here.migration} {...{ live, status, newest, here }} />;
  };
  return (
    <AddressContext.Provider value={address}>
      <a class="skip" href={`${location.pathname}${location.search}#content`}>
        Skip to content
      </a>
      <Header live={live} shown={here?.migration} newest={here?.newest.record_time} status={status.answer} />
      <main id="content">
        <h1 tabIndex={-1} class={party !== null && isParty(party) ? 'hidden' : ''}>
          {title}
        </h1>
        {here === null && newest.error?.status === 404 ? (
          <NoSnapshotsPage live={live} status={status} message={newest.error.message} />
        ) : (
          <Answered asked={newest} lines={12}>
            {() => page(here!)}
          </Answered>
        )}
      </main>
      <Footer status={status.answer} />
    </AddressContext.Provider>
  );
}

function partyOf({ path }: Address): string | null {
  if (!path.startsWith('owners/')) return null;
  const text = path.slice('owners/'.length);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function titleOf({ path }: Address, party: string | null): string {
  if (party !== null) return `Owner ${party}`;
  return path === 'snapshots' ? 'Snapshots' : path === 'tokens' ? 'Tokens' : 'Overview';
}

function hereOf({ migration_id, period, snapshots }: Snapshots): Shown {
  return { migration: String(migration_id), periodMs: durationMs(period), newest: snapshots[0]! };
}

function NotAParty({ text }: { readonly text: string }): JSX.Element {
  return (
    <section class="card">
      <p>
        <b class="wrap">{text}</b> is not a party id. A party id is a name, <code>::</code> and a fingerprint.
      </p>
      <p>
        Search for an owner at the top, or choose one of <a href={linkTo('')}>the largest holders</a>.
      </p>
    </section>
  );
}

function Footer({ status }: { readonly status: Status | null }): JSX.Element {
  return (
    <footer class="bottom">
      <p>
        Holdfast {status?.version} · <a href={linkTo('docs')}>API</a> · <a href={linkTo('status')}>Status</a>
      </p>
      {status?.dso && (
        <p>
          DSO: <code class="wrap">{status.dso}</code>
        </p>
      )}
      <p>Times are UTC; hover over a time for local time. Amounts are exact to the last digit.</p>
    </footer>
  );
}

render(<App />, document.getElementById('page')!);
