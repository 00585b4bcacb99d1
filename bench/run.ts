import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchReplay } from './replay.ts';
import { printPromises } from './table.ts';

/**
 * Prints every promise of the design beside its baseline, all measured in this one run. Sizes by argument:
 * `npm run bench -- --events 200000 --large 1000000 --rounds 1`.
 */
const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    large: { type: 'string', default: '5000000' },
    rounds: { type: 'string', default: '3' },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
try {
  const sizes = { events: Number(values.events), largeEvents: Number(values.large), rounds: Number(values.rounds) };
  printPromises(benchReplay(folder, sizes));
} finally {
  rmSync(folder, { recursive: true });
}
