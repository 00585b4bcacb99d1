import type { JSX } from 'preact';
import { localTime, showTime } from '../data/time.ts';

/** A time in UTC; the pointer over it shows the reader's own. */
export function Time({ of }: { readonly of: string }): JSX.Element {
  return (
    <time dateTime={of} title={`${localTime(of)} (your time)`}>
      {showTime(of)} <abbr title="Coordinated Universal Time">UTC</abbr>
    </time>
  );
}
