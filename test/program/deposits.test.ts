import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startService } from '../support/http/service.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { createRandom } from '../support/ledger/random.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { soakCount } from '../support/program/soak.ts';
import { spawnTied } from '../support/program/tied-process.ts';
import { linesOf } from '../support/views/replayed.ts';

const ROUNDS = soakCount(3);
const UPDATES_PER_ROUND = 120;
const DEPOSITS_PER_ROUND = 80;
const CLIENTS_PER_SERVICE = 3;
const CLIENT = join(import.meta.dirname, '../support/http/deposit-client.ts');
const directory = freshDirectory();

/** Seven seconds apart. Two of three are a deposit of alice's; she merges each third one with the one before. */
function feedOf(updates: number): readonly string[] {
  const start = Date.UTC(2025, 1, 12, 0, 11);
  return Array.from({ length: updates }, (_, i) => {
    const time = new Date(start + i * 7_000).toISOString().slice(11, 19);
    return `${time} =u${i} : ${i % 3 === 2 ? `-d${i - 2} ; -d${i - 1} ; +d${i} alice 3` : `+d${i} alice ${1 + (i % 3)}`}`;
  });
}

it(`a client credits each deposit once, over ${ROUNDS} services, where both are killed with SIGKILL at random`, async () => {
  const random = createRandom(ROUNDS);
  const updates = feedOf(ROUNDS * UPDATES_PER_ROUND);
  const lines = linesOf(parseLedger(['00:01 =first : +x bob 1', ...updates].join('\n')), 'scan');
  const deposits = updates.flatMap((text, i) => (text.includes(' ; ') ? [] : [`u${i} ${1 + (i % 3)}`]));
  const ledger = directory.writeLines('credited', []);
  const credited = () => readFileSync(ledger, 'utf8').split('\n').slice(0, -1);
  for (let round = 1; round <= ROUNDS; round++) {
    const feed = directory.writeLines(`${round}.ndjson`, lines.slice(0, round * UPDATES_PER_ROUND + 1));
    // Two replicas, each of which reads the feed for itself.
    await using service = await startService(['--data', directory.at(`replica-${round % 2}`), '--file', feed]);
    for (let client = 1; client <= CLIENTS_PER_SERVICE; client++) {
      const isLast = round === ROUNDS && client === CLIENTS_PER_SERVICE;
      const most = (round * DEPOSITS_PER_ROUND * (client + 1)) / (CLIENTS_PER_SERVICE + 1);
      const wanted = isLast ? deposits.length : credited().length + random.below(most - credited().length);
      const args = [CLIENT, service.url, partyOf('alice'), ledger, '0 2025-02-12T00:10:00Z'];
      const wallet = await spawnTied([process.execPath, ...args]);
      await expect.poll(() => [wallet.isAlive(), credited().length >= wanted]).toEqual([true, true]);
      await wallet.kill();
    }
    service.program.kill('SIGKILL');
  }
  expect(credited().map((line) => line.split('\t')[1])).toEqual(deposits);
}, 300_000);
