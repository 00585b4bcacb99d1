import type { JSX } from 'preact';
import type { Status } from '../data/answers.ts';
import { ROOT } from '../data/root.ts';

export function Footer({ status }: { readonly status: Status | null }): JSX.Element {
  return (
    <footer class="bottom">
      <p>
        Holdfast {status?.version} · <a href={new URL('docs', ROOT).href}>API</a> ·{' '}
        <a href={new URL('status', ROOT).href}>Status</a>
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
