import type { ComponentChildren, JSX } from 'preact';
import { useContext, useRef, useState } from 'preact/hooks';
import { ownerLink } from '../data/address.ts';
import { partsOf } from '../data/decimal.ts';
import { UnitContext, useLabels } from '../data/labels.ts';
import { localTime, showTime } from '../data/time.ts';

interface AmountProps {
  readonly of: string;
  /** A change of a total, which is a gain or a loss: no other amount has these colours. */
  readonly gain?: boolean;
  /** A change: a plus is shown too. */
  readonly signed?: boolean;
  /** With the symbol of what it is of, which only the style shows. */
  readonly unit?: boolean;
}

/** An amount to its last digit. Only the style groups the digits: copied, searched or read out it is the exact number. */
export function Amount({ of, gain = false, signed = gain, unit = false }: AmountProps): JSX.Element {
  const symbol = useContext(UnitContext);
  const { sign, groups, fraction, zeros, short } = partsOf(of);
  const isPlus = signed && sign === '' && /[1-9]/.test(of);
  const tone = gain ? (isPlus ? 'gain' : sign === '-' ? 'loss' : '') : '';
  return (
    <span
      class={`amount ${tone} ${isPlus ? 'plus' : ''}`}
      title={of}
      data-unit={unit && symbol !== '' ? symbol : undefined}
    >
      {sign}
      {groups.map((group, index) => (
        <span class="group" key={index}>
          {group}
        </span>
      ))}
      <span class="fraction">
        <Cut text={fraction} at={short} />
        <span class="zeros">
          <Cut text={zeros} at={Math.max(0, short - fraction.length)} />
        </span>
      </span>
    </span>
  );
}

/** The style leaves out the rest where amounts are short; a copied amount has it. */
function Cut({ text, at }: { readonly text: string; readonly at: number }): JSX.Element {
  return (
    <>
      {text.slice(0, at)}
      {text.length > at && <span class="rest">{text.slice(at)}</span>}
    </>
  );
}

/** A time in UTC; its title is the local time. `precise`: of an update, to the second; the title has its fraction. */
export function Time({ of, precise = false }: { readonly of: string; readonly precise?: boolean }): JSX.Element {
  return (
    <time dateTime={of} title={`${precise ? `${of}, ` : ''}${localTime(of)} (local time)`}>
      {showTime(of, precise)} <abbr title="Coordinated Universal Time">UTC</abbr>
    </time>
  );
}

interface FigureProps {
  readonly name: string;
  /** The colour that it has in charts. */
  readonly swatch?: 'unlocked' | 'locked' | 'total' | undefined;
  readonly large?: boolean;
  readonly amount?: string;
  readonly children?: ComponentChildren;
}

/** A name and its value, within a `dl`. */
export function Figure({ name, swatch, large = false, amount, children }: FigureProps): JSX.Element {
  return (
    <div class={`figure ${large ? 'large' : ''}`}>
      <dt>
        {swatch && <span class={`swatch ${swatch}`} aria-hidden="true" />}
        {name}
      </dt>
      <dd>
        {amount !== undefined && <Amount of={amount} unit={amount.includes('.')} />}
        {children}
      </dd>
    </div>
  );
}

interface PartyProps {
  readonly id: string;
  readonly link?: boolean;
  /** The page of the owner unless given. */
  readonly href?: string | undefined;
}

/** A party by its label or name and its fingerprint, which only the style shortens: a copied row has the whole id. */
export function Party({ id, link = true, href }: PartyProps): JSX.Element {
  const { name, fingerprint } = partyParts(id);
  const label = useLabels()[id];
  const text = (
    <>
      {label?.name !== undefined && <b class="label">{label.name} </b>}
      <span class="party-name-part">{name}</span>
      <span class="fingerprint">
        <Whole of={`::${fingerprint}`} />
      </span>
    </>
  );
  if (!link) return <span class="party">{text}</span>;
  return (
    <span class="copied">
      <a class="party" href={href ?? ownerLink(id)} title={id}>
        {text}
      </a>
      <CopyButton text={id} what={`the party id of ${name}`} icon />
    </span>
  );
}

/** A long id, of which the style shows the beginning and the end. */
export function Whole({ of }: { readonly of: string }): JSX.Element {
  const tail = of.length > 18 ? 4 : 0;
  return (
    <>
      <span class={tail > 0 ? 'id-head' : ''}>{of.slice(0, of.length - tail)}</span>
      {tail > 0 && <span>{of.slice(-tail)}</span>}
    </>
  );
}

interface IdProps {
  readonly of: string;
  readonly what: string;
  /** Of its page. */
  readonly href?: string;
}

/** An id with a button that copies it. */
export function Id({ of, what, href }: IdProps): JSX.Element {
  const text = (
    <code class="id" title={of}>
      <Whole of={of} />
    </code>
  );
  return (
    <span class="copied">
      {href === undefined ? text : <a href={href}>{text}</a>}
      <CopyButton text={of} what={what} icon />
    </span>
  );
}

/** An id that a registry made up: any text, in any direction. */
export function ForeignId({ of }: { readonly of: string }): JSX.Element {
  return <bdi class="wrap">{of === '' ? '(empty)' : of}</bdi>;
}

/** Whether a text has the form of a party id; the service validates the rest. */
export function isParty(text: string): boolean {
  return /^[\w: -]+::[\w: -]+$/.test(text);
}

export function partyParts(id: string): { readonly name: string; readonly fingerprint: string } {
  const [name = '', ...rest] = id.split('::');
  return { name, fingerprint: rest.join('::') };
}

const ICONS = {
  copy: 'M5 5V2h9v9h-3M2 5h9v9H2z',
  done: 'M2 8l4 4 8-9',
  calendar: 'M2 4h12v10H2zM2 7h12M5 2v3M11 2v3',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
} as const;

export function Icon({ of }: { readonly of: keyof typeof ICONS }): JSX.Element {
  return (
    <svg class={`drawn ${of}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={ICONS[of]} />
    </svg>
  );
}

const COPIED_MS = 2_000;

interface CopyProps {
  readonly text: string;
  readonly what: string;
  readonly icon?: boolean;
  readonly label?: string;
}

/** Copies a text. Without TLS a page may not write to the clipboard: then the text is selected. */
export function CopyButton({ text, what, icon = false, label: first = 'Copy' }: CopyProps): JSX.Element {
  const [label, setLabel] = useState(first);
  const button = useRef<HTMLButtonElement>(null);
  const copy = async (): Promise<void> => {
    const isCopied = await (navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    ) ?? false);
    const beside = button.current?.previousElementSibling;
    if (!isCopied && beside) getSelection()?.selectAllChildren(beside);
    setLabel(isCopied ? 'Copied' : 'Selected');
    setTimeout(() => setLabel(first), COPIED_MS);
  };
  return (
    <button
      type="button"
      class={icon ? 'icon copy' : 'tool'}
      ref={button}
      title={`Copy ${what}`}
      aria-label={icon ? `${label} ${what}` : undefined}
      onClick={copy}
    >
      {icon ? (
        <Icon of={label === first ? 'copy' : 'done'} />
      ) : (
        <>
          <span aria-live="polite">{label}</span>
          <span class="hidden"> {what}</span>
        </>
      )}
    </button>
  );
}
