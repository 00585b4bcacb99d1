import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBroker } from '../test/support/kafka/broker.ts';
import { type DemoStop, runDemo } from './demo/run.ts';
import { env, root, say, startService } from './demo/service.ts';

/** What docker-compose.yml shows, without Docker: a broker from its jars, a feed sent to it, and a summary that moves. */
const FIXTURE = 'fixtures/story.scan.ndjson';
const EXPECTED = 'fixtures/story.expected.json';
/** The story's sixth line ends its first half hour. */
const LINES_FIRST = 6;
const TOPIC = 'updates';
const WAIT_MAX_MS = 60_000;

function produce(file: string, address: string): void {
  const options = ['--kafka-brokers', address, '--kafka-topic', TOPIC, '--create', '--log-level', 'warn'];
  const args = ['dist/main.js', 'produce', file, ...options];
  const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) throw new Error(`produce ended with exit code ${status}`);
}

interface Summary {
  readonly record_time: string;
  readonly summaries: readonly { readonly party_id: string; readonly total_coin_holdings: string }[];
}

/** Who has how much at the newest snapshot; null before the first. */
async function newestSummary(url: string, owners: readonly string[]): Promise<Summary | null> {
  const question = {
    ...{ migration_id: 0, record_time: '2030-01-01T00:00:00Z', record_time_match: 'at_or_before' },
    ...{ owner_party_ids: owners, as_of_round: 102 },
  };
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(question);
  const response = await fetch(`${url}/v0/holdings/summary`, { method: 'POST', headers, body });
  return response.ok ? ((await response.json()) as Summary) : null;
}

/** Waits for a summary of a later snapshot than the one given, and shows it. */
async function showNext(url: string, owners: readonly string[], shown: string | null): Promise<string> {
  const deadline = Date.now() + WAIT_MAX_MS;
  for (;;) {
    const ready = (await fetch(`${url}/readyz`)).ok;
    const summary = ready ? await newestSummary(url, owners) : null;
    if (summary !== null && summary.record_time !== shown) {
      console.log(`\nAt ${summary.record_time}:`);
      for (const { party_id, total_coin_holdings } of summary.summaries) {
        console.log(`  ${party_id.split('::')[0]!.padEnd(8)} ${total_coin_holdings.padStart(16)}`);
      }
      return summary.record_time;
    }
    if (Date.now() > deadline) throw new Error('no later snapshot was served');
    await sleep(100);
  }
}

async function demonstrate(folder: string, stopping: DemoStop): Promise<void> {
  const lines = readFileSync(join(root, FIXTURE), 'utf8').trim().split('\n');
  const expected = JSON.parse(readFileSync(join(root, EXPECTED), 'utf8')) as { owner_party_ids: string[] };
  const owners = expected.owner_party_ids.slice(0, 3);
  const [first, second] = [join(folder, 'first.ndjson'), join(folder, 'second.ndjson')];
  writeFileSync(first, `${lines.slice(0, LINES_FIRST).join('\n')}\n`);
  writeFileSync(second, `${lines.slice(LINES_FIRST).join('\n')}\n`);

  say('1. A Kafka broker from its jars (fetched with Maven the first time)');
  await using broker = await startBroker();
  stopping.check();
  const address = broker.addresses.plain;
  console.log(`   ${address}`);
  say(`2. holdfast produce: the first ${LINES_FIRST} updates of ${FIXTURE}`);
  produce(first, address);
  say('3. holdfast serve, reading the topic');
  stopping.check();
  const source = ['--kafka-brokers', address, '--kafka-topic', TOPIC];
  await using service = await startService(['--data', join(folder, 'data'), ...source], stopping);
  const { url } = service;
  const shown = await showNext(url, owners, null);
  say('4. The rest of the feed arrives');
  produce(second, address);
  await showNext(url, owners, shown);
  // /status hears of the topic's end once a second.
  await sleep(1_500);
  const status = (await (await fetch(`${url}/status`)).json()) as { source: object };
  say(`5. ${url}/status:\n${JSON.stringify(status.source, null, 2)}`);
}

await runDemo(demonstrate);
