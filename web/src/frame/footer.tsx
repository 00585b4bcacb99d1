import type { JSX } from 'preact';
import type { Status } from '../data/answers.ts';
import { linkTo } from '../data/place.ts';

export function Footer({ status }: { readonly status: Status | null }): JSX.Element {
  return (
    <footer class="bottom">
      <p>
        Holdfast {status?.version} · <a href={linkTo('docs')}>API</a> · <a href={linkTo('status')}>Status</a>
      </p>
      {status?.dso && (
        <p>
          Coins of <code class="wrap">{status.dso}</code>
        </p>
      )}
      <p>All times are UTC; the pointer over one shows yours. Amounts are exact to the last digit.</p>
    </footer>
  );
}
