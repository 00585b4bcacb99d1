import type { JSX } from 'preact';
import { linkTo } from '../data/address.ts';
import type { Snapshot } from '../data/api.ts';
import { percentOf, pixels } from '../data/decimal.ts';
import { Figure } from './values.tsx';

/** The page of a snapshot. */
export function snapshotLink(migration: string, time: string): string {
  return linkTo(`snapshots/${migration}/${encodeURIComponent(time)}`);
}

export function SnapshotFigures({ snapshot }: { readonly snapshot: Snapshot }): JSX.Element {
  const { owners, contracts, unlocked, locked, total } = snapshot;
  const unlockedPercent = percentOf(unlocked, total);
  return (
    <>
      <dl class="figures">
        <Figure name="Total" large amount={total} />
        <Figure name="Unlocked" swatch="unlocked" amount={unlocked}>
          <span class="faint"> {unlockedPercent} %</span>
        </Figure>
        <Figure name="Locked" swatch="locked" amount={locked}>
          <span class="faint"> {percentOf(locked, total)} %</span>
        </Figure>
        <Figure name="Owners with coin" amount={String(owners)} />
        <Figure name="Coin contracts" amount={String(contracts)} />
      </dl>
      <div class="bar" role="img" aria-label={`${unlockedPercent} % of the total is unlocked`}>
        <span class="bar-unlocked" style={{ width: `${pixels(unlockedPercent)}%` }} />
      </div>
    </>
  );
}
