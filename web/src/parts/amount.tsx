import type { JSX } from 'preact';
import { partsOf } from '../data/decimal.ts';

/**
 * An amount to its last digit. Groups of digits are apart by space in the style only, so that what is copied, searched or read
 * out is the number as the service gave it.
 */
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
