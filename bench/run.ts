import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchAuthenticatedUser } from './authenticated-user.ts';
import { benchKafka } from './kafka.ts';
import { startServer } from './processes.ts';
import { loadReference } from './reference-load.ts';
import { startPostgres } from './reference-postgres.ts';
import { benchGrowth, benchReplay, benchSealing, makeBenchFeed } from './replay.ts';
import { benchSummaries } from './summaries.ts';
import { printPromises, rounded } from './table.ts';

/**
 * Prints every promise of the design beside its baseline, all measured in this one run. Sizes by argument:
 * `npm run bench -- --events 200000 --large 1000000 --rounds 1`; `--only replay` for one part,
 * `--reference` for the approach that Splice Scan takes as well, on a PostgreSQL 15 of its own.
 */
const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    large: { type: 'string', default: '5000000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    reference: { type: 'boolean', default: false },
  },
});
const [events, largeEvents, rounds] = [Number(values.events), Number(values.large), Number(values.rounds)];
const wanted = (part: string): boolean => values.only === undefined || values.only === part;

/** Runs a bench with the address of the reference approach's server, or null where it was not asked for. */
async function withReference<T>(feed: string, bench: (url: string | null) => Promise<T>): Promise<T> {
  if (!values.reference) return await bench(null);
  using postgres = startPostgres();
  console.error('loading the reference approach');
  const { contracts, sealSeconds } = loadReference(postgres, feed);
  console.log(
    `\nThe reference approach seals a snapshot of ${contracts} active contracts in ${rounded(sealSeconds)} s`,
  );
  await using server = await startServer(['bench/reference-server.ts', postgres.folder]);
  return await bench(server.url);
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
try {
  const promises = [];
  const feed = makeBenchFeed(folder, events);
  if (wanted('replay')) promises.push(...benchReplay(feed, { events, rounds }));
  if (wanted('sealing')) promises.push(...benchSealing(feed));
  if (wanted('summaries'))
    promises.push(...(await withReference(feed, (reference) => benchSummaries(folder, feed, { rounds, reference }))));
  if (wanted('authenticated-user')) promises.push(...(await benchAuthenticatedUser(folder, { rounds })));
  if (wanted('kafka')) promises.push(...(await benchKafka(feed, { events, rounds })));
  if (wanted('growth')) promises.push(...benchGrowth(folder, { smallEvents: events / 4, largeEvents }));
  printPromises(promises);
} finally {
  rmSync(folder, { recursive: true });
}
