import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dsosOf, lastPosition, tokenOf } from '../src/feed/scan/scan-position.ts';
import { ledgerApiSpec, scanSpec } from '../src/sources.ts';
import { contentOf, type WireElement } from '../test/support/ledger-api/elements.ts';
import { ownersIn, participantLedger } from '../test/support/ledger-api/ledger.ts';
import { interfaceOf, seenLines, TEMPLATES } from '../test/support/ledger-api/participant-ledger.ts';
import type { CatchUp } from './catch-up-holdfast.ts';
import { writeMainnetFeed } from './mainnet/feed.ts';
import { alternate, measure } from './measure.ts';
import { startServer } from './processes.ts';
import type { RunReport } from './run-report.ts';
import { type Promised, printTable, rounded } from './table.ts';

const SEED = 1;
/** Of a participant's transactions. */
const TOKEN_SHARE = 0.1;

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
  const place = lastPosition([last.subarray(last.lastIndexOf('\n', -2) + 1, -1)]);
  const [dso] = dsosOf(readFileSync(first));
  if (place === null || place === 'seed' || dso === undefined) throw new Error('a feed without a place or a DSO');
  await using scan = await startServer(['bench/catch-up-scan.ts', whole, dso]);
  const settings = {
    urls: [`${scan.url}/api/scan`],
    pageSize: 500,
    pollIntervalMs: 100,
    readyLagMaxMs: 60_000,
    ca: null,
  } as const;
  const asked: CatchUp = { source: scanSpec({ ...settings, start: 'snapshot' }), file: first, end: tokenOf(place) };
  const runs = {
    'holdfast, from the file': () => measure('replay-holdfast', whole, 'worker'),
    'holdfast, from the Scan': () => measure('catch-up-holdfast', JSON.stringify(asked)),
  };
  // The Scan prepares its pages.
  runs['holdfast, from the Scan']();
  const medians = alternate('catching up', runs, rounds);
  for (const feed of [whole, first]) rmSync(feed);
  print(`${updates} updates of MainNet's shape from a local Scan, in pages of 500`, medians, updates);
  const share = medians['holdfast, from the file'].wallMs / medians['holdfast, from the Scan'].wallMs;
  return [
    { what: 'rate of catching up from a Scan, to that from a file', measured: share, least: 0.5, unit: 'x' },
    await catchUpOverWebSocket(folder, { updates, rounds }),
  ];
}

/**
 * The same from a participant, whose updates are small and dense in coins with their views: of owners that are followed, some of tokens, and
 * checkpoints.
 */
async function catchUpOverWebSocket(
  folder: string,
  { updates, rounds }: { updates: number; rounds: number },
): Promise<Promised> {
  const lines = participantLedger(SEED, updates, { token: TOKEN_SHARE });
  const parties = ownersIn(lines);
  const interfaces = (['V1', 'V2'] as const).map(interfaceOf);
  const seen = seenLines(lines, { parties, templates: TEMPLATES, interfaces });
  const [all, file] = [join(folder, 'participant.ndjson'), join(folder, 'participant-seen.ndjson')];
  for (const [path, content] of [
    [all, lines],
    [file, seen],
  ] as const)
    writeFileSync(path, `${content.join('\n')}\n`);
  await using participant = await startServer(['bench/catch-up-participant.ts', all]);
  const settings = {
    url: participant.url,
    parties,
    tokens: true,
    tokenFile: null,
    oauth: null,
    ca: null,
    start: 'beginning',
  } as const;
  const end = String(contentOf(JSON.parse(seen.at(-1)!) as WireElement).value.offset);
  const asked: CatchUp = { source: ledgerApiSpec(settings), file: null, end };
  const medians = alternate(
    'catching up over WebSocket',
    {
      'holdfast, from the file': () => measure('replay-holdfast', file, 'worker'),
      'holdfast, from the participant': () => measure('catch-up-holdfast', JSON.stringify(asked)),
    },
    rounds,
  );
  for (const feed of [all, file]) rmSync(feed);
  print(`${seen.length} updates from a local participant, over its WebSocket`, medians, seen.length);
  const share = medians['holdfast, from the file'].wallMs / medians['holdfast, from the participant'].wallMs;
  return { what: 'rate of catching up over WebSocket, to that from a file', measured: share, least: 0.5, unit: 'x' };
}

function print(what: string, medians: Readonly<Record<string, RunReport>>, updates: number): void {
  printTable(
    `Catching up with ${what}`,
    ['', 'updates/s', 'CPU us/update', 'RSS MB'],
    Object.entries(medians).map(([run, { wallMs, cpuMs, rssMb }]) => {
      return [run, ...[(updates * 1000) / wallMs, (cpuMs * 1000) / updates, rssMb].map(rounded)];
    }),
  );
}
