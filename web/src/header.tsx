import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { goTo, linkTo, pageLink, showAt, useAddress } from './data/address.ts';
import type { Shown, Status } from './data/api.ts';
import { chooseLook, chosenLook, LOOKS, type Look } from './data/remembered.ts';
import type { Live } from './data/stream.ts';
import { StatePill } from './parts/state.tsx';
import { TimeField } from './parts/time-field.tsx';
import { SearchBox } from './search.tsx';

interface Props {
  readonly live: Live;
  /** Null before the first snapshot. */
  readonly here: Shown | null;
  readonly status: Status | null;
}

export function Header({ live, here, status }: Props): JSX.Element {
  const { path } = useAddress();
  const newest = here?.newest.record_time;
  const link = (page: string, name: string): JSX.Element => {
    const isCurrent = page === '' ? path === '' : path.startsWith(page);
    return (
      <a href={pageLink(page)} aria-current={isCurrent ? 'page' : undefined}>
        {name}
      </a>
    );
  };
  return (
    <header class="top">
      <div class="top-row">
        <a class="brand" href={pageLink('')}>
          <img src={document.querySelector<HTMLLinkElement>('link[rel=icon]')!.href} alt="" width="28" height="28" />
          Holdfast
        </a>
        <nav aria-label="Pages">
          {link('', 'Overview')}
          {link('owners', 'Owners')}
          {link('snapshots', 'Snapshots')}
          {status?.tokens === 'on' && link('tokens', 'Tokens')}
          <a href={linkTo('docs')}>API</a>
        </nav>
        <SearchBox migration={here?.migration} newest={newest} status={status} />
        <div class="looks">
          <LookSwitch look="amounts" label="Amounts" />
          <LookSwitch look="scheme" label="Colours" />
        </div>
      </div>
      <div class="top-row tools">
        {here !== null && <TimeMachine here={here} />}
        <Migrations shown={here?.migration} status={status} />
        <StatePill live={live} status={status} newest={newest} />
      </div>
    </header>
  );
}

/** The time that all pages show. */
function TimeMachine({ here: { newest, at } }: { readonly here: Shown }): JSX.Element {
  return (
    <div class={`machine ${at === null ? '' : 'past'}`}>
      <TimeField label="At (UTC)" value={at} newest={newest.record_time} placeholder="newest" choose={showAt} />
      {at !== null && (
        <button type="button" class="tool" onClick={() => showAt(undefined)}>
          Now
        </button>
      )}
    </div>
  );
}

/** Chooses the migration, if there is more than one. */
function Migrations({ shown, status }: { shown: string | undefined; status: Status | null }): JSX.Element | null {
  const { path } = useAddress();
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

function LookSwitch({ look, label }: { readonly look: Look; readonly label: string }): JSX.Element {
  const [chosen, setChosen] = useState(() => chosenLook(look));
  return (
    <select
      aria-label={label}
      title={label}
      value={chosen}
      onChange={({ currentTarget: { value } }) => {
        chooseLook(look, value);
        setChosen(value);
      }}
    >
      {Object.entries(LOOKS[look]).map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  );
}
