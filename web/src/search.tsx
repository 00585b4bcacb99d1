import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { goTo, ownerLink, pageLink, tokenLink, updateLink } from './data/address.ts';
import { type FoundById, foundRequest, instrumentsRequest, type Status, topRequest } from './data/api.ts';
import { useAnswer } from './data/hooks.ts';
import { INSTRUMENTS_MAX, labelled, useInstrumentNames, useLabels } from './data/labels.ts';
import { remember, remembered } from './data/remembered.ts';
import { parseMoment, showTime } from './data/time.ts';
import { holderLink, type Now } from './pages/update.tsx';
import { Amount, isParty, Party, Whole } from './parts/values.tsx';

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
  readonly status: Status | null;
}

/** Of updates and contracts, which are looked for whole; as an event id names an update, too. */
const ID = /^#?((?:[0-9a-f]{2}){8,})(?::\d+)?$/;

/**
 * Finds owners by any part of their ids or labels, the largest first, instruments by any part of their ids or names, updates and
 * contracts by their ids, and snapshots by a time. `/` or Ctrl-K reaches it, arrows choose, Enter opens, Escape closes.
 */
export function SearchBox({ migration, newest, status }: Props): JSX.Element {
  const listId = useId();
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
  // A store in PostgreSQL, which has no ids, does not say whether it has tokens. A closed list sends nothing again.
  const id = status?.tokens == null || !open ? undefined : ID.exec(wanted)?.[1];
  const byId = useAnswer(id === undefined ? null : foundRequest(id));
  const ofTokens = { migration_id: migration, limit: INSTRUMENTS_MAX };
  const listed = useAnswer(wanted === '' || status?.tokens !== 'on' ? null : instrumentsRequest(ofTokens));
  const names = useInstrumentNames();
  const isCurrent = wanted === text.trim() && !asked.busy && (id === undefined || (byId.isCurrent && !byId.busy));
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
  const instruments = (listed.answer?.instruments ?? [])
    .map(({ admin, id }) => ({ admin, id, ...names.find((each) => each.admin === admin && each.id === id) }))
    .filter(({ id, symbol = '', name = '' }) =>
      `${id}\n${symbol}\n${name}`.toLowerCase().includes(wanted.toLowerCase()),
    )
    .slice(0, SHOWN_MAX)
    .map(({ admin, id, symbol, name }) => ({
      key: `${admin}\n${id}`,
      href: tokenLink({ instrument_admin: admin, instrument_id: id }),
      shown: (
        <>
          <bdi title={admin}>{id}</bdi>
          <span class="faint">{symbol === undefined ? 'instrument' : `${symbol} · ${name}`}</span>
        </>
      ),
    }));
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
          ...(id !== undefined && byId.isCurrent
            ? foundOf(byId.answer!, newest, { migration, dso: status?.dso ?? null })
            : []),
          ...instruments,
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
    byId.error?.message ??
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
        aria-label="Find an owner or an instrument by any part of its id or name, an update or a contract by its id, or a time"
        placeholder="Find an owner, an id or a time   /"
        autocomplete="off"
        spellcheck={false}
        maxLength={TEXT_MAX}
        aria-expanded={show}
        aria-controls={`${listId}-found`}
        aria-autocomplete="list"
        aria-activedescendant={chosen >= 0 && show ? `${listId}-${chosen}` : undefined}
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
        <div id={`${listId}-found`} role="listbox" aria-label="Found">
          {found.map(({ key, href, shown }, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose
            // biome-ignore lint/a11y/useFocusableInteractive: the same
            <div
              key={key}
              id={`${listId}-${index}`}
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

/** The update, or the contract in the newest snapshot that has it, at the page of its owner. */
function foundOf({ id, found }: FoundById, newest: string | undefined, now: Now): readonly Found[] {
  const [first] = found;
  if (first === undefined) return [];
  const { kind, snapshot, party_id, total } = first;
  const owner = party_id !== null && <Party id={party_id} link={false} />;
  const at = snapshot === null || snapshot === newest ? undefined : snapshot;
  const text = kind === 'update' ? `${found.length} movements` : <Amount of={total} />;
  return [
    {
      key: id,
      href: kind === 'update' ? updateLink(id) : holderLink(first, now, { at, contract: id }),
      shown: (
        <>
          <span class="named">
            {kind === 'update' ? 'Update' : 'Contract of '}{' '}
            {kind === 'update' ? (
              <code class="id">
                <Whole of={id} />
              </code>
            ) : (
              owner
            )}
          </span>
          <span class="faint">{text}</span>
        </>
      ),
    },
  ];
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
  if (count === 0) return 'Nothing has this in its id or name. A whole party id can be opened with Enter.';
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
