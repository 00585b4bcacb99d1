import type { JSX } from 'preact';
import { ownerLink } from '../data/place.ts';

/** A party by its name, and the end of its fingerprint by which equal names are told apart; the whole id is its title. */
export function Party({ id, migration }: { readonly id: string; readonly migration: string }): JSX.Element {
  const { name, fingerprint } = partyParts(id);
  return (
    <a class="party" href={ownerLink(id, { migration })} title={id}>
      <b>{name}</b>
      <span class="fingerprint">::{shortened(fingerprint)}</span>
    </a>
  );
}

/** Whether a text has the form of a party id; the service says what exactly is wrong with it. */
export function isParty(text: string): boolean {
  return /^[\w: -]+::[\w: -]+$/.test(text);
}

export function partyParts(id: string): { readonly name: string; readonly fingerprint: string } {
  const cut = id.indexOf('::');
  return cut < 0 ? { name: id, fingerprint: '' } : { name: id.slice(0, cut), fingerprint: id.slice(cut + 2) };
}

function shortened(fingerprint: string): string {
  return fingerprint.length <= 14 ? fingerprint : `${fingerprint.slice(0, 8)}…${fingerprint.slice(-4)}`;
}
