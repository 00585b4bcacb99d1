import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ledgerApiLine } from '../test/support/ledger/ledger-api-lines.ts';
import { realLedger } from '../test/support/ledger/options.ts';
import { writeMainnetFeed } from './mainnet/feed.ts';
import { makeFeed } from './make-feed.ts';
import { alternate, measure } from './measure.ts';
import type { RunReport } from './run-report.ts';
import { type Promised, printTable, rounded } from './table.ts';

const SEED = 1;
/** Of the transactions of the feed that is dense in tokens. */
const TOKEN_SHARE = 0.9;

/**
 * What tokens cost, in a participant's form: a feed dense in tokens next to one as dense in coins, and MainNet's shape with all events
 * of a transaction, where 19 of 20 archives name nothing that is held, and each must be looked up.
 */
export function benchTokens(folder: string, size: { events: number; updates: number; rounds: number }): Promised[] {
  const { events, updates, rounds } = size;
  const feeds = {
    coins: join(folder, 'coins-participant.ndjson'),
    tokens: join(folder, 'tokens-participant.ndjson'),
    mainnet: join(folder, 'mainnet-participant.ndjson'),
  };
  console.error(`making feeds of a participant: ${events} events of coins, of tokens, and ${updates} updates`);
  for (const [name, token] of [
    ['coins', 0],
    ['tokens', TOKEN_SHARE],
  ] as const)
    makeFeed(feeds[name], realLedger({ seed: SEED, events, token }), events, (item) =>
      ledgerApiLine(item, 'acs-delta'),
    );
  writeMainnetFeed(feeds.mainnet, { seed: SEED, updates, format: 'ledger-api' });
  const off = ['inline', '', '', 'off'];
  const medians = alternate(
    'tokens',
    {
      'coin-dense, tokens off': () => measure('replay-holdfast', feeds.coins, ...off),
      'coin-dense': () => measure('replay-holdfast', feeds.coins, 'inline'),
      'token-dense': () => measure('replay-holdfast', feeds.tokens, 'inline'),
      "MainNet's shape, decode floor": () => measure('decode-floor', feeds.mainnet),
      "MainNet's shape, tokens off": () => measure('replay-holdfast', feeds.mainnet, ...off),
      "MainNet's shape": () => measure('replay-holdfast', feeds.mainnet, 'inline'),
    },
    rounds,
  );
  for (const feed of Object.values(feeds)) rmSync(feed);
  const each = (run: string): number => (run.startsWith('MainNet') ? updates : events);
  const rows = Object.entries(medians).map(([run, { cpuMs, threadCpuMs, wallMs, rssMb, bytes }]) => {
    const [cpu, thread, wall] = [cpuMs, threadCpuMs, wallMs].map((ms) => (ms * 1000) / each(run));
    return [run, ...[wall!, cpu!, thread!, rssMb, bytes / each(run)].map(rounded)];
  });
  const columns = ['', 'us each', 'CPU us each', 'main thread', 'RSS MB', 'bytes each'];
  printTable(
    `Replay in a participant's form in one thread, for each event or update (medians of ${rounds})`,
    columns,
    rows,
  );
  const ratio = (run: keyof typeof medians, to: keyof typeof medians): number => {
    const cpu = ({ cpuMs }: RunReport): number => cpuMs;
    return cpu(medians[run]) / cpu(medians[to]);
  };
  return [
    {
      what: 'CPU of coins with tokens on, to off',
      measured: ratio('coin-dense', 'coin-dense, tokens off'),
      most: 1.03,
      unit: 'x',
    },
    {
      what: 'CPU of an event of tokens, to one of coins',
      measured: ratio('token-dense', 'coin-dense'),
      most: 1.5,
      unit: 'x',
    },
    {
      what: "CPU of MainNet's shape of a participant with tokens on, to off",
      measured: ratio("MainNet's shape", "MainNet's shape, tokens off"),
      most: 1.03,
      unit: 'x',
    },
  ];
}
