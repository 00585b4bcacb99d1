import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cursorText } from '../src/feed/scan/cursor.ts';
import { dsosOf, lastPlace } from '../src/feed/scan/place-of-line.ts';
import { writeMainnetFeed } from './mainnet/feed.ts';
import { alternate, measure } from './measure.ts';
import { startServer } from './processes.ts';
import { type Promised, printTable, rounded } from './table.ts';

const SEED = 1;

/** Catches up with a network from a local Scan, next to a replay of the same updates from a file. */
export async function benchCatchUp(
  folder: string,
  { updates, rounds }: { updates: number; rounds: number },
): Promise<Promised[]> {
  const whole = join(folder, 'network.ndjson');
  const first = join(folder, 'network-first.ndjson');
  writeMainnetFeed(whole, { seed: SEED, updates });
  writeMainnetFeed(first, { seed: SEED, updates: 1 });
  const last = readFileSync(whole).subarray(-1_000_000);
  const place = lastPlace([last.subarray(last.lastIndexOf('\n', -2) + 1, -1)]);
  const [dso] = dsosOf(readFileSync(first));
  if (place === null || place === 'seed' || dso === undefined) throw new Error('a feed without a place or a DSO');
  await using scan = await startServer(['bench/catch-up-scan.ts', whole, dso]);
  const runs = {
    'holdfast, from the file': () => measure('replay-holdfast', whole, 'worker'),
    'holdfast, from the Scan': () => measure('catch-up-holdfast', scan.url, first, cursorText(place)),
  };
  // The Scan prepares its pages.
  runs['holdfast, from the Scan']();
  const medians = alternate('catching up', runs, rounds);
  for (const feed of [whole, first]) rmSync(feed);
  printTable(
    `Catching up with ${updates} updates of MainNet's shape from a local Scan, in pages of 500`,
    ['', 'updates/s', 'CPU us/update', 'RSS MB'],
    Object.entries(medians).map(([run, { wallMs, cpuMs, rssMb }]) => {
      return [run, ...[(updates * 1000) / wallMs, (cpuMs * 1000) / updates, rssMb].map(rounded)];
    }),
  );
  const share = medians['holdfast, from the file'].wallMs / medians['holdfast, from the Scan'].wallMs;
  return [{ what: 'rate of catching up from a Scan, to that from a file', measured: share, least: 0.6, unit: 'x' }];
}
