import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchGrowth, benchReplay, benchSealing, makeBenchFeed } from './replay.ts';
import { benchSummaries } from './summaries.ts';
import { printPromises } from './table.ts';

/**
 * Prints every promise of the design beside its baseline, all measured in this one run. Sizes by argument:
 * `npm run bench -- --events 200000 --large 1000000 --rounds 1`; `--only replay` for one part.
 */
const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    large: { type: 'string', default: '5000000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
});
const [events, largeEvents, rounds] = [Number(values.events), Number(values.large), Number(values.rounds)];
const wanted = (part: string): boolean => values.only === undefined || values.only === part;

const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
try {
  const promises = [];
  const feed = makeBenchFeed(folder, events);
  if (wanted('replay')) promises.push(...benchReplay(feed, { events, rounds }));
  if (wanted('sealing')) promises.push(...benchSealing(feed));
  if (wanted('summaries')) promises.push(...(await benchSummaries(folder, feed, { rounds })));
  if (wanted('growth')) promises.push(...benchGrowth(folder, { smallEvents: events / 4, largeEvents }));
  printPromises(promises);
} finally {
  rmSync(folder, { recursive: true });
}
