import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { goTo, linkTo, ownerLink, useAddress } from './data/address.ts';
import { ownersRequest, type Status } from './data/api.ts';
import { useAnswer, useNow } from './data/hooks.ts';
import { type Live, serviceState } from './data/stream.ts';
import { ageOf } from './data/time.ts';
import { Amount } from './parts/values.tsx';

const AGE_INTERVAL_MS = 1_000;

interface Props {
  readonly live: Live;
  /** The migration that the page shows. */
  readonly shown: string | undefined;
  /** The time of its newest snapshot. */
  readonly newest: string | undefined;
  readonly status: Status | null;
}

export function Header({ live, shown, newest, status }: Props): JSX.Element {
  const { path, query } = useAddress();
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
          {status?.tokens === 'on' && (
            <a href={linkTo('tokens', kept)} aria-current={current('tokens')}>
              Tokens
            </a>
          )}
          <a href={linkTo('docs')}>API</a>
        </nav>
        <SearchBox migration={shown} />
        <Migrations shown={shown} status={status} />
        <State live={live} status={status} newest={newest} />
      </div>
    </header>
  );
}

/** Chooses the migration, if there is more than one. */
function Migrations({ shown, status }: Pick<Props, 'shown' | 'status'>): JSX.Element | null {
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

/** The state of the service. Screen readers do not announce the age, which changes every second. */
function State({ live, status, newest }: Pick<Props, 'live' | 'status' | 'newest'>): JSX.Element {
  const now = useNow(AGE_INTERVAL_MS);
  const { tone, text, reasons, isStored } = serviceState(live, status);
  return (
    <p class={`state ${tone}`}>
      <span class="dot" aria-hidden="true" />
      <span role="status">{[text, ...reasons.slice(0, 1)].join(': ')}</span>
      {isStored && newest !== undefined && ` · newest snapshot ${ageOf(newest, now)}`}
    </p>
  );
}

const SHOWN_MAX = 8;
/** The request waits for a pause in the typing. */
const PAUSE_MS = 150;
/** The longest party id. */
const PREFIX_MAX = 255;

/** Finds an owner by the start of its party id: arrows choose, Enter opens, Escape closes. */
function SearchBox({ migration }: { readonly migration: string | undefined }): JSX.Element {
  const id = useId();
  const [text, setText] = useState('');
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const prefix = usePause(text.trim());
  const asked = useAnswer(prefix === '' ? null : ownersRequest({ prefix, migration_id: migration, limit: SHOWN_MAX }));
  const isCurrent = prefix === text.trim() && !asked.busy;
  const owners = prefix === '' ? [] : (asked.answer?.owners ?? []);
  const show = open && text.trim() !== '';
  const visit = (party: string): void => {
    setText('');
    setOpen(false);
    goTo(ownerLink(party, { migration }));
  };
  const submit = (): void => {
    const found = owners[chosen] ?? (isCurrent && owners.length > 0 ? owners[0] : undefined);
    if (found) visit(found.party_id);
    else if (text.includes('::')) visit(text.trim());
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => setChosen(Math.min(chosen + 1, owners.length - 1)),
    ArrowUp: () => setChosen(Math.max(chosen - 1, -1)),
    Escape: () => setOpen(false),
    Enter: submit,
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: <search> has no style of its own in older browsers, and no other use
    <div class="search" role="search">
      <input
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: an input has this role by itself only with a list, which this one has not
        role="combobox"
        list={undefined}
        aria-label="Find an owner by the start of its party id"
        placeholder="Find an owner…"
        autocomplete="off"
        spellcheck={false}
        maxLength={PREFIX_MAX}
        aria-expanded={show}
        aria-controls={`${id}-found`}
        aria-autocomplete="list"
        aria-activedescendant={chosen >= 0 && show ? `${id}-${chosen}` : undefined}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(-1);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={(event) => {
          const act = keys[event.key];
          if (act === undefined) return;
          if (event.key !== 'Escape') event.preventDefault();
          act();
        }}
      />
      <div class="found" hidden={!show}>
        <div id={`${id}-found`} role="listbox" aria-label="Owners found">
          {owners.map(({ party_id, total }, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose
            // biome-ignore lint/a11y/useFocusableInteractive: the same
            <div
              key={party_id}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === chosen}
              // The field keeps the focus, so that its blur does not close the list before the click.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => visit(party_id)}
            >
              <span class="found-party">{party_id}</span>
              <Amount of={total} />
            </div>
          ))}
        </div>
        <p class="found-note" role="status">
          {noteOf({ count: owners.length, busy: !isCurrent, error: asked.error?.message })}
        </p>
      </div>
    </div>
  );
}

function noteOf({ count, busy, error }: { count: number; busy: boolean; error: string | undefined }): string {
  if (error !== undefined) return error;
  if (busy) return 'Searching…';
  if (count === 0) return 'No owner starts with this. Upper and lower case differ.';
  return count === SHOWN_MAX ? `First ${SHOWN_MAX}. Type more to narrow.` : '';
}

function usePause(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
