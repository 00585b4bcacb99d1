import { type LedgerOptions, oddLedger } from '../ledger/options.ts';

export const FLAT_DSO = 'DSO::1220fe';

/** A ledger of which one machine and many say the same: record times rise, and no id is used again. */
export function flatLedger(seed: number, changes: Partial<LedgerOptions> = {}): LedgerOptions {
  return oddLedger(seed, {
    synchronizers: 1,
    dso: FLAT_DSO,
    ...changes,
    shares: { olderMigration: 0, importAgain: 0, recreated: 0, within: 0, wideAmount: 0, ...changes.shares },
  });
}
