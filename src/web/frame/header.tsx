import type { JSX } from 'preact';
import type { Status } from '../data/answers.ts';
import { goTo, linkTo, usePlace } from '../data/place.ts';
import type { Live } from '../data/stream.ts';
import { SearchBox } from './search-box.tsx';

export function Header({
  live,
  shown,
  status,
}: {
  readonly live: Live;
  /** The migration that the page shows. */
  readonly shown: string | undefined;
  readonly status: Status | null;
}): JSX.Element {
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
        <Connection live={live} />
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

const SAID = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Connection lost: trying again',
} as const;

function Connection({ live: { connection } }: { readonly live: Live }): JSX.Element {
  return (
    <p class={`connection ${connection}`} role="status">
      <span class="dot" aria-hidden="true" />
      {SAID[connection]}
    </p>
  );
}
