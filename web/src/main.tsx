import { type JSX, render } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { Here, Snapshots } from './data/answers.ts';
import { useLive, useNow } from './data/live.ts';
import { linkTo, type Place, PlaceContext, useAddress } from './data/place.ts';
import { snapshotsRequest, statusRequest } from './data/requests.ts';
import { durationMs } from './data/time.ts';
import { useAnswer } from './data/use-answer.ts';
import { Footer } from './frame/footer.tsx';
import { Header } from './frame/header.tsx';
import { NothingYet } from './frame/nothing-yet.tsx';
import { OverviewPage } from './overview/overview-page.tsx';
import { OwnerPage } from './owner/owner-page.tsx';
import { isParty } from './parts/party.tsx';
import { Answered } from './parts/states.tsx';
import { SnapshotsPage } from './snapshots/snapshots-page.tsx';

/** How often /status is asked while the service is not ready. */
const STATUS_EVERY_MS = 5_000;

function App(): JSX.Element {
  const place = useAddress();
  const party = partyOf(place);
  const live = useLive(party !== null && isParty(party) ? party : null);
  const migration = place.query.get('migration') ?? undefined;
  const newest = useAnswer(snapshotsRequest({ migration_id: migration, limit: 1 }), live.snapshot);
  const { updates: _updates, lag_seconds: _lag, ...turns } = live.status ?? {};
  // What /status has besides goes on by itself while the source fails.
  const tick = useNow(STATUS_EVERY_MS);
  const status = useAnswer(
    statusRequest,
    JSON.stringify([turns, live.snapshot?.split(' ')[0], live.status?.ready === false && tick]),
  );
  const here = useMemo(() => newest.answer && hereOf(newest.answer), [newest.answer]);
  const title = titleOf(place, party);
  useEffect(() => {
    document.title = `${title} · Holdfast`;
    // Read out and reached by the keyboard as after a load.
    document.querySelector('h1')?.focus();
  }, [title]);
  const page = (here: Here): JSX.Element => {
    if (party !== null && !isParty(party)) return <NoParty text={party} />;
    if (party !== null) return <OwnerPage key={party} party={party} here={here} live={live} />;
    if (place.path === 'snapshots') return <SnapshotsPage key={here.migration} here={here} />;
    return <OverviewPage key={here.migration} {...{ live, status, newest, here }} />;
  };
  return (
    <PlaceContext.Provider value={place}>
      <a class="skip" href={`${location.pathname}${location.search}#content`}>
        Skip to the content
      </a>
      <Header live={live} shown={here?.migration} newest={here?.newest.record_time} status={status.answer} />
      <main id="content">
        <h1 tabIndex={-1} class={party !== null && isParty(party) ? 'hidden' : ''}>
          {title}
        </h1>
        {here === null && newest.error?.status === 404 ? (
          <NothingYet live={live} status={status} message={newest.error.message} />
        ) : (
          <Answered asked={newest} lines={12}>
            {() => page(here!)}
          </Answered>
        )}
      </main>
      <Footer status={status.answer} />
    </PlaceContext.Provider>
  );
}

function partyOf({ path }: Place): string | null {
  if (!path.startsWith('owners/')) return null;
  const text = path.slice('owners/'.length);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function titleOf({ path }: Place, party: string | null): string {
  if (party !== null) return `Owner ${party}`;
  return path === 'snapshots' ? 'Snapshots' : 'Overview';
}

function hereOf({ migration_id, period, snapshots }: Snapshots): Here {
  return { migration: String(migration_id), periodMs: durationMs(period), newest: snapshots[0]! };
}

/** An address of an owner that cannot be one. */
function NoParty({ text }: { readonly text: string }): JSX.Element {
  return (
    <section class="card">
      <p>
        <b class="wrap">{text}</b> is not a party id: that is a name, <code>::</code> and a fingerprint.
      </p>
      <p>
        Find an owner by the beginning of its party id in the field at the top, or among{' '}
        <a href={linkTo('')}>the largest holders</a>.
      </p>
    </section>
  );
}

render(<App />, document.getElementById('page')!);
