import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { env, root } from './service.ts';

export const FIXTURE = 'fixtures/story.scan.ndjson';
const EXPECTED = 'fixtures/story.expected.json';
/** The story's sixth line ends its first half hour. */
export const LINES_FIRST = 6;
const WAIT_MAX_MS = 120_000;

export interface Story {
  readonly owners: readonly string[];
  /** The file of its beginning. */
  readonly first: string;
}

export function writeStory(folder: string): Story {
  const lines = readFileSync(join(root, FIXTURE), 'utf8').trim().split('\n');
  const expected = JSON.parse(readFileSync(join(root, EXPECTED), 'utf8')) as { owner_party_ids: string[] };
  const first = join(folder, 'first.ndjson');
  writeFileSync(first, `${lines.slice(0, LINES_FIRST).join('\n')}\n`);
  return { owners: expected.owner_party_ids.slice(0, 3), first };
}

export function topic(address: string, name = 'updates'): string[] {
  return ['--kafka-brokers', address, '--kafka-topic', name];
}

/** Runs a command of the program to its end. */
export function run(command: string, ...args: readonly string[]): void {
  const all = ['dist/main.js', ...command.split(' '), ...args, '--log-level', 'warn'];
  const { status } = spawnSync(process.execPath, all, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ended with exit code ${status}`);
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
export async function showNext(url: string, owners: readonly string[], shown: string | null): Promise<string> {
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
