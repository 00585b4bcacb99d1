import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ownerLink } from '../data/address.ts';
import { partsOf } from '../data/decimal.ts';
import { localTime, showTime } from '../data/time.ts';

/** An amount to its last digit. Only the style groups the digits: copied, searched or read out it is the exact number. */
export function Amount({ of, signed = false }: { readonly of: string; readonly signed?: boolean }): JSX.Element {
  const { sign, groups, fraction, zeros } = partsOf(of);
  const tone = signed && sign === '' && /[1-9]/.test(of) ? 'gain' : signed && sign === '-' ? 'loss' : '';
  return (
    <span class={`amount ${tone}`}>
      {sign}
      {groups.map((group, index) => (
        <span class="group" key={index}>
          {group}
        </span>
      ))}
      {fraction}
      <span class="zeros">{zeros}</span>
    </span>
  );
}

/** A time in UTC; its title is the local time. */
export function Time({ of }: { readonly of: string }): JSX.Element {
  return (
    <time dateTime={of} title={`${localTime(of)} (local time)`}>
      {showTime(of)} <abbr title="Coordinated Universal Time">UTC</abbr>
    </time>
  );
}

interface FigureProps {
  readonly name: string;
  /** The colour that it has in charts. */
  readonly swatch?: 'unlocked' | 'locked' | undefined;
  readonly large?: boolean;
  readonly wide?: boolean;
  readonly amount?: string;
  readonly children?: ComponentChildren;
}

/** A name and its value, within a `dl`. */
export function Figure({ name, swatch, large = false, wide = false, amount, children }: FigureProps): JSX.Element {
  return (
    <div class={`figure ${large ? 'large' : ''} ${wide ? 'wide' : ''}`}>
      <dt>
        {swatch && <span class={`swatch ${swatch}`} aria-hidden="true" />}
        {name}
      </dt>
      <dd>
        {amount !== undefined && <Amount of={amount} />}
        {children}
      </dd>
    </div>
  );
}

/** A party by its name and a shortened fingerprint; its title is the whole id. */
export function Party({ id, migration }: { readonly id: string; readonly migration: string }): JSX.Element {
  const { name, fingerprint } = partyParts(id);
  const short = fingerprint.length <= 14 ? fingerprint : `${fingerprint.slice(0, 8)}…${fingerprint.slice(-4)}`;
  return (
    <a class="party" href={ownerLink(id, { migration })} title={id}>
      <b>{name}</b>
      <span class="fingerprint">::{short}</span>
    </a>
  );
}

/** Whether a text has the form of a party id; the service validates the rest. */
export function isParty(text: string): boolean {
  return /^[\w: -]+::[\w: -]+$/.test(text);
}

export function partyParts(id: string): { readonly name: string; readonly fingerprint: string } {
  const [name = '', ...rest] = id.split('::');
  return { name, fingerprint: rest.join('::') };
}

export function Digest({ of }: { readonly of: string | null }): JSX.Element {
  if (of === null) return <span class="faint">none</span>;
  return (
    <span class="digest">
      <code>{of}</code>
      <CopyButton text={of} what="the digest" />
    </span>
  );
}

const COPIED_MS = 2_000;

/** Copies a text. Without TLS a page may not write to the clipboard: then the text is selected. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  const [label, setLabel] = useState('Copy');
  const button = useRef<HTMLButtonElement>(null);
  const copy = async (): Promise<void> => {
    const isCopied = await (navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    ) ?? false);
    if (!isCopied) getSelection()?.selectAllChildren(button.current!.previousElementSibling!);
    setLabel(isCopied ? 'Copied' : 'Selected');
    setTimeout(() => setLabel('Copy'), COPIED_MS);
  };
  return (
    <button type="button" class="tool" ref={button} onClick={copy}>
      <span aria-live="polite">{label}</span>
      <span class="hidden"> {what}</span>
    </button>
  );
}
