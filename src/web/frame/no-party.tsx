import type { JSX } from 'preact';
import { linkTo } from '../data/place.ts';

/** An address of an owner that cannot be one. */
export function NoParty({ text }: { readonly text: string }): JSX.Element {
  return (
    <section class="card">
      <p>
        <b class="wrap">{text}</b> is not a party id: that is a name, <code>::</code> and a fingerprint.
      </p>
      <p>
        Find an owner by the beginning of its party id in the field at the top, or among{' '}
        <a href={linkTo('')}>the largest holders</a>.
      </p>
    </section>
  );
}
