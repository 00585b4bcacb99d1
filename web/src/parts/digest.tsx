import type { JSX } from 'preact';
import { CopyButton } from './copy-button.tsx';

/** A digest in full: comparing it by eye or by copying is what it is for. */
export function Digest({ of }: { readonly of: string | null }): JSX.Element {
  if (of === null) return <span class="faint">none</span>;
  return (
    <span class="digest">
      <code>{of}</code>
      <CopyButton text={of} what="the digest" />
    </span>
  );
}
