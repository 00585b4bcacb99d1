import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { goTo, ownerLink, pageLink } from './data/address.ts';
import { topRequest } from './data/api.ts';
import { useAnswer } from './data/hooks.ts';
import { labelled, useLabels } from './data/labels.ts';
import { remember, remembered } from './data/remembered.ts';
import { parseMoment, showTime } from './data/time.ts';
import { Amount, isParty, Party } from './parts/values.tsx';

const SHOWN_MAX = 8;
/** The request waits for a pause in the typing. */
const PAUSE_MS = 150;
/** The longest party id. */
const TEXT_MAX = 255;
const RECENT = 'holdfast-recent';

function recentOwners(): readonly string[] {
  return (remembered(RECENT) ?? '').split('\n').filter(isParty);
}

/** The owners that were opened last are offered before anything is typed. */
export function rememberOwner(party: string): void {
  const others = recentOwners().filter((each) => each !== party);
  remember(RECENT, [party, ...others].slice(0, SHOWN_MAX).join('\n'));
}

interface Found {
  readonly href: string;
  readonly key: string;
  readonly shown: ComponentChildren;
}

interface Props {
  readonly migration: string | undefined;
  readonly newest: string | undefined;
}

/**
 * Finds owners by any part of their ids or labels, the largest first, and snapshots by a time. `/` or Ctrl-K reaches it,
 * arrows choose, Enter opens, Escape closes.
 */
export function SearchBox({ migration, newest }: Props): JSX.Element {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  /** Enter was pressed before the answer came. */
  const [isWaited, setWaited] = useState(false);
  const wanted = usePause(text.trim());
  const labels = useLabels();
  const request = topRequest({ contains: wanted, migration_id: migration, limit: SHOWN_MAX });
  const asked = useAnswer(wanted === '' || migration === undefined ? null : request);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, target } = event;
      const isTyping = (target as Element).matches('input, select, textarea');
      if (!(key === '/' && !isTyping) && !(key === 'k' && (ctrlKey || metaKey))) return;
      event.preventDefault();
      field.current!.focus();
      field.current!.select();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const isCurrent = wanted === text.trim() && !asked.busy;
  const moment = newest === undefined ? null : parseMoment(wanted, newest);
  const owner = (party: string, amount?: string): Found => ({
    key: party,
    href: ownerLink(party),
    shown: (
      <>
        <Party id={party} link={false} />
        {amount !== undefined && <Amount of={amount} />}
      </>
    ),
  });
  const owners = asked.answer?.owners ?? [];
  const named = labelled(labels, wanted).filter((party) => !owners.some(({ party_id }) => party_id === party));
  const found: readonly Found[] =
    text.trim() === ''
      ? recentOwners().map((party) => owner(party))
      : [
          ...(moment === null
            ? []
            : [
                {
                  key: moment,
                  href: pageLink('', { at: moment }),
                  shown: <span>All pages at {showTime(moment)} UTC</span>,
                },
              ]),
          ...named.slice(0, SHOWN_MAX).map((party) => owner(party)),
          ...owners.map(({ party_id, total }) => owner(party_id, total)),
        ];
  const show = open && (text.trim() !== '' || found.length > 0);
  const visit = (href: string): void => {
    setText('');
    setOpen(false);
    field.current?.blur();
    goTo(href);
  };
  const submit = (): void => {
    const one = found[chosen] ?? (isCurrent && text.trim() !== '' ? found[0] : undefined);
    if (one) visit(one.href);
    else if (!isCurrent) setWaited(true);
    else if (text.includes('::')) visit(ownerLink(text.trim()));
  };
  useEffect(() => {
    if (!isWaited || !isCurrent) return;
    setWaited(false);
    submit();
  }, [isWaited, isCurrent]);
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => setChosen(Math.min(chosen + 1, found.length - 1)),
    ArrowUp: () => setChosen(Math.max(chosen - 1, -1)),
    Escape: () => setOpen(false),
    Enter: submit,
  };
  const note =
    asked.error?.message ??
    noteOf({ text: text.trim(), count: found.length, busy: !isCurrent, isCut: asked.answer?.next_page_token != null });
  return (
    // biome-ignore lint/a11y/useSemanticElements: <search> has no style of its own in older browsers, and no other use
    <div class="search" role="search">
      <input
        ref={field}
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: an input has this role by itself only with a list, which this one has not
        role="combobox"
        list={undefined}
        aria-label="Find an owner by any part of its id or name, or a time"
        placeholder="Find an owner or a time   /"
        autocomplete="off"
        spellcheck={false}
        maxLength={TEXT_MAX}
        aria-expanded={show}
        aria-controls={`${id}-found`}
        aria-autocomplete="list"
        aria-activedescendant={chosen >= 0 && show ? `${id}-${chosen}` : undefined}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(-1);
          setWaited(false);
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
        <div id={`${id}-found`} role="listbox" aria-label="Found">
          {found.map(({ key, href, shown }, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose
            // biome-ignore lint/a11y/useFocusableInteractive: the same
            <div
              key={key}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === chosen}
              // The field keeps the focus, so that its blur does not close the list before the click.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => visit(href)}
            >
              {shown}
            </div>
          ))}
        </div>
        <p class="found-note" role="status">
          {show ? note : ''}
        </p>
      </div>
    </div>
  );
}

interface NoteFacts {
  readonly text: string;
  readonly count: number;
  readonly busy: boolean;
  readonly isCut: boolean;
}

function noteOf({ text, count, busy, isCut }: NoteFacts): string {
  if (text === '') return 'Opened last';
  if (busy) return 'Searching…';
  if (count === 0) return 'No owner with coin has this in its id or name. A whole party id can be opened with Enter.';
  return isCut ? `The ${SHOWN_MAX} largest. Type more to narrow.` : '';
}

function usePause(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
