import type { ComponentChildren, JSX } from 'preact';
import { Amount } from './amount.tsx';

interface Props {
  readonly name: string;
  /** The colour that it has in charts. */
  readonly swatch?: 'unlocked' | 'locked';
  readonly large?: boolean;
  readonly wide?: boolean;
  readonly amount?: string;
  readonly children?: ComponentChildren;
}

/** A name and its value, within a `dl`. */
export function Figure({ name, swatch, large = false, wide = false, amount, children }: Props): JSX.Element {
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
