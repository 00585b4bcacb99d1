import type { JSX } from 'preact';
import type { Status } from '../data/answers.ts';
import { useNow } from '../data/live.ts';
import { goTo, linkTo, usePlace } from '../data/place.ts';
import { serviceState } from '../data/service-state.ts';
import type { Live } from '../data/stream.ts';
import { ageOf } from '../data/time.ts';
import { SearchBox } from './search-box.tsx';

const AGE_EVERY_MS = 1_000;

interface Props {
  readonly live: Live;
  /** The migration that the page shows. */
  readonly shown: string | undefined;
  /** The time of its newest snapshot. */
  readonly newest: string | undefined;
  readonly status: Status | null;
}

export function Header({ live, shown, newest, status }: Props): JSX.Element {
  const { path, query } = usePlace();
  const kept = { migration: query.get('migration') ?? undefined };
  const current = (page: string): 'page' | undefined => (path === page ? 'page' : undefined);
  return (
    <header class="top">
      <div class="top-row">
        <a class="brand" href={linkTo('', kept)}>
          <img src={document.querySelector<HTMLLinkElement>('link[rel=icon]')!.href} alt="" width="28" height="28" />
          Holdfast
        </a>
        <nav aria-label="Pages">
          <a href={linkTo('', kept)} aria-current={current('')}>
            Overview
          </a>
          <a href={linkTo('snapshots', kept)} aria-current={current('snapshots')}>
            Snapshots
          </a>
          <a href={linkTo('docs')}>API</a>
        </nav>
        <SearchBox migration={shown} />
        <Migrations shown={shown} status={status} />
        <State live={live} status={status} newest={newest} />
      </div>
    </header>
  );
}

/** Which era of the ledger is shown; there is nothing to choose where there was only one. */
function Migrations({
  shown,
  status,
}: {
  readonly shown: string | undefined;
  readonly status: Status | null;
}): JSX.Element | null {
  const { path } = usePlace();
  const ids = status?.snapshots.map(({ migration_id }) => String(migration_id)) ?? [];
  if (shown === undefined || ids.length < 2) return null;
  return (
    <label class="migration">
      Migration
      <select value={shown} onChange={({ currentTarget }) => goTo(linkTo(path, { migration: currentTarget.value }))}>
        {ids.map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What the service is doing. The age, which goes on by itself, is not read out. */
function State({ live, status, newest }: Pick<Props, 'live' | 'status' | 'newest'>): JSX.Element {
  const now = useNow(AGE_EVERY_MS);
  const { tone, text, reasons, isStored } = serviceState(live, status);
  return (
    <p class={`state ${tone}`}>
      <span class="dot" aria-hidden="true" />
      <span role="status">{[text, ...reasons.slice(0, 1)].join(': ')}</span>
      {isStored && newest !== undefined && ` · newest snapshot ${ageOf(newest, now)}`}
    </p>
  );
}
