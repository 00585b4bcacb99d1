import { type ComponentChildren, type JSX, render } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type Address, AddressContext, linkTo, pageLink, useLocation } from './data/address.ts';
import { type Shown, type Snapshots, type Status, snapshotsRequest, statusRequest } from './data/api.ts';
import { useAnswer, useNow } from './data/hooks.ts';
import {
  COIN,
  type InstrumentNames,
  InstrumentsContext,
  instrumentNamesRequest,
  LabelsContext,
  labelsRequest,
  UnitContext,
} from './data/labels.ts';
import { startLooks } from './data/remembered.ts';
import { useLive } from './data/stream.ts';
import { durationMs, isInstant, showTime } from './data/time.ts';
import { Header } from './header.tsx';
import { GroupsCard, HoldersCard } from './pages/holders.tsx';
import { NoSnapshotsPage, OverviewPage } from './pages/overview.tsx';
import { OwnerPage } from './pages/owner.tsx';
import { SnapshotPage } from './pages/snapshot.tsx';
import { SnapshotsPage } from './pages/snapshots.tsx';
import { TokensPage } from './pages/tokens.tsx';
import { UpdatePage } from './pages/update.tsx';
import { Answered } from './parts/card.tsx';
import { Banner } from './parts/state.tsx';
import { isParty } from './parts/values.tsx';

/** Polling of /status while the service is not ready. */
const STATUS_INTERVAL_MS = 5_000;

const NO_NAMES: InstrumentNames = [];

function App(): JSX.Element {
  const address = useLocation();
  const party = partyOf(address);
  const live = useLive(party !== null && isParty(party) ? party : null);
  const migration = address.query.get('migration') ?? undefined;
  const given = address.query.get('at');
  const isWrong = given !== null && !isInstant(given);
  const at = isWrong ? null : given;
  const newest = useAnswer(snapshotsRequest({ migration_id: migration, limit: 1 }), live.snapshot);
  const past = useAnswer(at === null ? null : snapshotsRequest({ migration_id: migration, to: at, limit: 1 }));
  const isBefore = past.isCurrent && past.answer?.snapshots.length === 0;
  const oldest = snapshotsRequest({ migration_id: migration, order: 'asc', limit: 1 });
  const first = useAnswer(isBefore ? oldest : null).answer?.snapshots[0]?.record_time;
  // The stream has these two; any other change is a reason to read /status.
  const { updates: _updates, lag_seconds: _lag, ...others } = live.status ?? {};
  // While the source fails, fields of /status change that the stream does not have.
  const tick = useNow(STATUS_INTERVAL_MS);
  // The stream says first what it knows, which is a reason to read the rest.
  const status = useAnswer(
    live.status === null && live.connection !== 'lost' ? null : statusRequest,
    JSON.stringify([others, live.snapshot?.split(' ')[0], live.status?.ready === false && tick]),
  );
  const labels = useAnswer(labelsRequest);
  const { dso } = status.answer ?? {};
  const names = useAnswer(instrumentNamesRequest).answer?.instruments ?? NO_NAMES;
  const isOfCoin = address.path !== 'tokens';
  const [ofAdmin, ofId] = isOfCoin
    ? [dso, COIN]
    : [address.query.get('instrument_admin'), address.query.get('instrument_id')];
  const unit = names.find(({ admin, id }) => admin === ofAdmin && id === ofId)?.symbol ?? '';
  const last = useRef<Shown | null>(null);
  // Until a time is answered, the one before it is shown.
  const here = useMemo(
    () =>
      newest.answer && (at === null || past.isCurrent || past.error !== null)
        ? hereOf(newest.answer, at, past.answer)
        : last.current,
    [newest.answer, at, past.answer, past.isCurrent, past.error],
  );
  last.current = here;
  const title = titleOf(address, party);
  const isLoaded = useRef(false);
  // With the drawing: later it would take the focus from a field that was reached in between.
  useLayoutEffect(() => {
    document.title = `${title} · Holdfast`;
    // Screen readers and the keyboard start here, as after a load.
    if (isLoaded.current) document.querySelector('h1')?.focus();
    isLoaded.current = true;
  }, [title]);
  const page = (here: Shown): ComponentChildren => {
    const { path } = address;
    const [, ofMigration, time] = /^snapshots\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    if (time !== undefined)
      return <SnapshotPage key={path} migration={ofMigration!} time={decoded(time)} live={live} />;
    const update = /^updates\/(.+)$/.exec(path)?.[1];
    if (update !== undefined)
      return <UpdatePage key={path} id={decoded(update)} now={{ migration: here.migration, dso: dso ?? null }} />;
    if (party !== null && !isParty(party)) return <NotAParty text={party} />;
    if (!['', 'owners', 'snapshots', 'tokens'].includes(path) && party === null) return <NotFound path={path} />;
    if (isWrong || (at !== null && past.error !== null))
      return (
        <section class="card">
          {past.error?.message ?? (
            <>
              <b class="wrap">{given}</b> in the address is not a time such as 2025-02-14T15:00:00Z.
            </>
          )}{' '}
          <a href={pageLink(path, { at: undefined })}>Show the newest</a>.
        </section>
      );
    if (at !== null && isBefore && path !== 'snapshots')
      return (
        <section class="card">
          No snapshot at or before {showTime(at)} UTC.{' '}
          {first !== undefined && (
            <>
              The first is that of <a href={pageLink(path, { at: first })}>{showTime(first)}</a>.{' '}
            </>
          )}
          <a href={pageLink(path, { at: undefined })}>Show the newest</a>.
        </section>
      );
    if (party !== null) return <OwnerPage key={party} {...{ party, here, live }} status={status.answer} />;
    if (path === 'owners')
      return (
        <div class="grid">
          <GroupsCard here={here} />
          <HoldersCard here={here} title="All owners with coin" />
        </div>
      );
    if (path === 'tokens') return <TokensPage key={here.migration} here={here} />;
    if (path === 'snapshots') return <SnapshotsPage key={here.migration} here={here} />;
    return <OverviewPage key={here.migration} {...{ live, status, newest, here }} />;
  };
  return (
    <AddressContext.Provider value={address}>
      <LabelsContext.Provider value={labels.answer ?? {}}>
        <InstrumentsContext.Provider value={names}>
          <UnitContext.Provider value={unit}>
            <a class="skip" href={`${location.pathname}${location.search}#content`}>
              Skip to content
            </a>
            <Header live={live} here={here} status={status.answer} />
            <main id="content">
              <Banner live={live} status={status.answer} />
              <h1 tabIndex={-1} class={party !== null && isParty(party) ? 'hidden' : ''}>
                {title}
                {here !== null && here.at !== null && <span class="faint"> at {showTime(here.at)} UTC</span>}
              </h1>
              {here === null && newest.error?.status === 404 ? (
                <NoSnapshotsPage live={live} status={status} migration={migration} />
              ) : (
                <Answered
                  asked={here === null ? { ...newest, answer: null } : newest}
                  lines={6}
                  titles={cardTitles(address, party)}
                >
                  {() => page(here!)}
                </Answered>
              )}
            </main>
            <Footer status={status.answer} unit={isOfCoin ? unit || COIN : ''} />
          </UnitContext.Provider>
        </InstrumentsContext.Provider>
      </LabelsContext.Provider>
    </AddressContext.Provider>
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function partyOf({ path }: Address): string | null {
  return path.startsWith('owners/') ? decoded(path.slice('owners/'.length)) : null;
}

const TITLES: Readonly<Record<string, string>> = {
  '': 'Overview',
  owners: 'Owners',
  snapshots: 'Snapshots',
  tokens: 'Tokens',
};

const CARD_TITLES: Readonly<Record<string, readonly string[]>> = {
  '': ['Newest snapshot', 'Feed', 'Total over time'],
  owners: ['All owners with coin'],
  snapshots: ['All snapshots'],
  tokens: ['Instruments'],
};

function titleOf({ path }: Pick<Address, 'path'>, party: string | null): string {
  if (party !== null) return `Owner ${party}`;
  return (
    TITLES[path] ?? (path.startsWith('snapshots/') ? 'Snapshot' : path.startsWith('updates/') ? 'Update' : 'Not found')
  );
}

/** Of the cards that a page begins with. */
function cardTitles({ path }: Address, party: string | null): readonly string[] {
  if (party !== null) return ['Holdings', 'Balance over time'];
  return CARD_TITLES[path] ?? [titleOf({ path }, party)];
}

function hereOf({ migration_id, period, snapshots }: Snapshots, at: string | null, past: Snapshots | null): Shown {
  const newest = snapshots[0]!;
  const snapshot = at === null ? newest : (past?.snapshots[0] ?? newest);
  return { migration: String(migration_id), periodMs: durationMs(period), newest, snapshot, at };
}

function NotAParty({ text }: { readonly text: string }): JSX.Element {
  return (
    <section class="card">
      <p>
        <b class="wrap">{text}</b> is not a party id. A party id is a name, <code>::</code> and a fingerprint.
      </p>
      <p>
        Search for an owner at the top, or choose one of <a href={pageLink('owners')}>the largest</a>.
      </p>
    </section>
  );
}

function NotFound({ path }: { readonly path: string }): JSX.Element {
  return (
    <section class="card">
      <p>
        There is no page <b class="wrap">/{path}</b>.
      </p>
      <p>
        Search at the top for an owner or a time, or go to the <a href={pageLink('')}>overview</a>, to{' '}
        <a href={pageLink('owners')}>all owners</a>, to <a href={pageLink('snapshots')}>the snapshots</a>, or to{' '}
        <a href={linkTo('docs')}>the API</a>.
      </p>
    </section>
  );
}

function Footer({ status, unit }: { readonly status: Status | null; readonly unit: string }): JSX.Element {
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
      <p>
        Times are UTC; hover over a time for local time. Amounts are exact to the last digit{unit && `, in ${unit}`}.
        Short ones are cut, and copied whole.
      </p>
    </footer>
  );
}

startLooks();
render(<App />, document.getElementById('page')!);
