import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchAuthenticatedUser } from './authenticated-user.ts';
import { benchCatchUp } from './catch-up.ts';
import { benchGrowth } from './growth.ts';
import { benchKafka } from './kafka.ts';
import { type Server, startServer } from './processes.ts';
import { loadReference } from './reference-load.ts';
import { startPostgres } from './reference-postgres.ts';
import { benchReplay, benchSealing, makeBenchFeed } from './replay.ts';
import { benchMainnet } from './replay-mainnet.ts';
import { benchScale } from './scale.ts';
import { benchStoreReaders } from './store-readers.ts';
import { benchStreams } from './streams.ts';
import { benchSummaries } from './summaries.ts';
import { type Promised, printPromises, rounded } from './table.ts';
import { benchTokens } from './tokens.ts';

/**
 * Prints every promise of the design next to its baseline, all measured in this one run. Sizes by argument: `npm run
 * bench -- --updates 10000 --events 200000 --large 1000000 --rounds 1`; `--only replay` for one part, `--huge 20000000`
 * replays as many more from a pipe, twice, which takes an hour; `--reference` for the approach that Splice Scan takes as well,
 * on a PostgreSQL 15 of its own.
 */
const { values } = parseArgs({
  options: {
    updates: { type: 'string', default: '300000' },
    events: { type: 'string', default: '1000000' },
    large: { type: 'string', default: '5000000' },
    huge: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    reference: { type: 'boolean', default: false },
  },
});
/** The servers to catch up with hold all of it as text. */
const CATCH_UP_UPDATES_MAX = 50_000;
// With fewer updates start-up is all there is to see.
const updates = count('updates', 1_000);
const [events, largeEvents, rounds] = [count('events'), count('large'), count('rounds')];
const hugeEvents = values.huge === undefined ? null : count('huge');

using temporary = mkdtempDisposableSync(join(tmpdir(), 'holdfast-bench-'));
const folder = temporary.path;
let denseFeed: string | null = null;

const PARTS: Readonly<Record<string, () => Promised[] | Promise<Promised[]>>> = {
  mainnet: () => benchMainnet(folder, { updates, rounds }),
  replay: () => benchReplay(dense(), { events, rounds }),
  tokens: () => benchTokens(folder, { events, updates, rounds }),
  sealing: () => benchSealing(dense()),
  summaries: () => withReference(dense(), (reference) => benchSummaries(folder, dense(), { rounds, reference })),
  'authenticated-user': () => benchAuthenticatedUser(folder, { rounds }),
  'store-readers': () => benchStoreReaders({ owners: events / 4, rounds }).then(() => []),
  streams: () => benchStreams(folder, dense(), { rounds }),
  kafka: () => benchKafka(dense(), { events, rounds }),
  'catch-up': () => benchCatchUp(folder, { updates: Math.min(updates, CATCH_UP_UPDATES_MAX), rounds }),
  scale: () => benchScale(folder, { events }),
  growth: () => benchGrowth(folder, { smallEvents: events / 4, middleEvents: 2 * events, largeEvents, hugeEvents }),
};

const promises: Promised[] = [];
for (const part of wanted()) promises.push(...(await PARTS[part]!()));
if (promises.length > 0) printPromises(promises);

function count(option: 'updates' | 'events' | 'large' | 'huge' | 'rounds', least = 1): number {
  const given = values[option];
  if (given !== undefined && /^[0-9]{1,10}$/.test(given) && Number(given) >= least) return Number(given);
  throw new Error(`--${option} ${given}: expected a whole number, at least ${least}`);
}

function wanted(): readonly string[] {
  const parts = Object.keys(PARTS);
  if (values.only === undefined) return parts;
  if (!parts.includes(values.only)) throw new Error(`--only ${values.only}: expected one of ${parts.join(', ')}`);
  return [values.only];
}

/** The feed dense in coins, created when the first part needs it. */
function dense(): string {
  denseFeed ??= makeBenchFeed(folder, events);
  return denseFeed;
}

/** Runs a bench with the reference approach's server, or null where it was not requested. */
async function withReference<T>(feed: string, bench: (server: Server | null) => Promise<T>): Promise<T> {
  if (!values.reference) return await bench(null);
  using postgres = startPostgres();
  console.error('loading the reference approach');
  const { contracts, sealSeconds } = loadReference(postgres, feed);
  console.log(
    `\nThe reference approach seals a snapshot of ${contracts} active contracts in ${rounded(sealSeconds)} s`,
  );
  await using server = await startServer(['bench/reference-server.ts', postgres.folder]);
  return await bench(server);
}
