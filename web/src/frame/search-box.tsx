import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { goTo, ownerLink } from '../data/place.ts';
import { ownersRequest } from '../data/requests.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Amount } from '../parts/amount.tsx';

const SHOWN_MAX = 8;
/** A request for what was typed waits until the typing pauses. */
const PAUSE_MS = 150;
/** The longest party id. */
const PREFIX_MAX = 255;

/** Finds an owner by the beginning of the party id, as a combobox: arrows choose, Enter opens, Escape closes. */
export function SearchBox({ migration }: { readonly migration: string | undefined }): JSX.Element {
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
        aria-label="Find an owner by the beginning of its party id"
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
          {owners.map(({ party_id, total_coin_holdings }, index) => (
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
              <Amount of={total_coin_holdings} />
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
  if (busy) return 'Looking…';
  if (count === 0) return 'No owner begins with this. Capitals count.';
  return count === SHOWN_MAX ? `The first ${SHOWN_MAX}: type on to see others.` : '';
}

function usePause(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
