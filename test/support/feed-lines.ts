import { ledgerApiLine } from './ledger-api-lines.ts';
import { oddLedger } from './ledger-options.ts';
import { randomLedger } from './random-ledger.ts';
import { scanLine } from './scan-lines.ts';

export type Format = 'scan' | 'ledger-api';
export const FORMATS: readonly Format[] = ['scan', 'ledger-api'];

/** A random ledger as the lines of one wire format. The Ledger API form tells one migration and no imports. */
export function feedLines(seed: number, format: Format, changes: Parameters<typeof oddLedger>[1] = {}): string[] {
  const migrations = format === 'scan' ? (changes.migrations ?? 2) : 1;
  const line = format === 'scan' ? scanLine : ledgerApiLine;
  const items = [...randomLedger(oddLedger(seed, { ...changes, migrations }))];
  return items.map((item) => line(item)).filter((text) => text !== null);
}
