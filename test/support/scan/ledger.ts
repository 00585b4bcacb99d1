import { oddLedger } from '../ledger/options.ts';
import { randomLedger } from '../ledger/random-ledger.ts';
import { scanLine } from '../ledger/scan-lines.ts';

/** Every so many updates the next one is of another synchronizer, and has the time of the one before. */
const EQUAL_EVERY = 7;

/**
 * A random ledger of one migration as a Scan gives it: in the order of record times, without imports, of two synchronizers, which
 * now and then have an update at the same time.
 */
export function scanLedger(seed: number, updates: number): string[] {
  const shape = { updates, owners: 40, activeTarget: 150, synchronizers: 1, migrationId: 0, roundEvery: 20, dso: DSO };
  const lines = [...randomLedger(oddLedger(seed, shape))].flatMap((item) => scanLine(item) ?? []);
  let last = '';
  return lines
    .filter((line) => !line.includes('"record_time":"0001-'))
    .map((line, i) => {
      const moved = i % EQUAL_EVERY === 0 ? line.replaceAll(synchronizerOf(line), 'zweite::1220ee') : line;
      const equal = i % EQUAL_EVERY === 0 && last !== '' ? moved.replace(timeOf(moved), last) : moved;
      last = timeOf(equal);
      return equal;
    });
}

export const DSO = 'DSO::1220dd';

export function timeOf(line: string): string {
  return /"record_time":"([^"]+)"/.exec(line)![1]!;
}

function synchronizerOf(line: string): string {
  return /"(?:synchronizer_id|source_synchronizer)":"([^"]+)"/.exec(line)![1]!;
}
