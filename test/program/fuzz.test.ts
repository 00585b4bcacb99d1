import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture, readExpected } from '../support/http/expected-answers.ts';
import { type FuzzedOperation, fuzzedRequest, operationsOf } from '../support/http/fuzz-requests.ts';
import { sendRequest, violation } from '../support/http/send-request.ts';
import { type Service, startService } from '../support/http/service.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';
import { holdfast } from '../support/program/command.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

/** Each round has a snapshot import of its own and begins where the one before left the service. */
const ROUNDS = soakCount(1);
const CASES_PER_ROUND = 600;
const AT_ONCE = 8;
/** After the first round caches and compiled code are there; what a service gains from then on it would gain forever. */
const GROWTH_BYTES_MAX = 200 * 1024 * 1024;

const folder = temporaryDirectory();
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
let service: Service;
let url = '';
let administrator = '';

beforeAll(async () => {
  const data = folder.at('data');
  service = await startService(['--data', data, '--file', fixture('story.scan.ndjson')]);
  await service.until('/readyz', (status) => status === 200);
  url = service.url;
  const { stdout } = await holdfast('token', '--user', 'participant_admin', '--expires-in', '30d', '--data', data);
  administrator = `Bearer ${stdout.trim()}`;
});
afterAll(async () => {
  agent.destroy();
  await service?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Sends the cases of one seed, several at a time; counts the answers by status. */
async function fuzz(
  operations: readonly FuzzedOperation[],
  seed: number,
  authorizationOf: (random: Random) => string,
): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  const random = createRandom(seed);
  const cases = Array.from({ length: CASES_PER_ROUND }, () =>
    fuzzedRequest(random.pick(operations), authorizationOf(random), random),
  );
  const sendOn = async (first: number): Promise<void> => {
    for (let at = first; at < cases.length; at += AT_ONCE) {
      const given = cases[at]!;
      const about = `seed ${seed}, case ${at}: ${given.method} ${given.target} ${given.body?.toString().slice(0, 500)}`;
      const answer = await sendRequest(url, agent, given).catch((error) =>
        Promise.reject(new Error(about, { cause: error })),
      );
      expect(violation(given, answer), `${about}\n${answer.text}`).toBeNull();
      counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, first) => sendOn(first)));
  return counts;
}

function residentBytes(): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${service.program.pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

describe('requests generated from the OpenAPI documents, right, nearly right and quite wrong', () => {
  it.each([
    ['openapi-holdings.json', () => ''],
    ['openapi-ledger.json', (random: Random) => (random.chance(0.9) ? administrator : '')],
  ] as const)('%s: none is a failure of ours, and the service goes on', async (document, authorizationOf) => {
    const operations = operationsOf(document).filter(({ path }) => path !== '/readyz');
    const { summary_v1, migration_id, record_time } = readExpected('story').snapshots[0]!;
    const { owner_party_ids } = readExpected('story');
    let resident = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const counts = await fuzz(operations, round * 2 + 1, authorizationOf);
      // A fuzz that only ever meets the first check tests nothing past it.
      expect(counts.get(200), `${[...counts]}`).toBeGreaterThan(CASES_PER_ROUND / 10);
      expect(counts.get(400), `${[...counts]}`).toBeGreaterThan(CASES_PER_ROUND / 10);
      const asked = { migration_id, record_time, owner_party_ids };
      expect(await service.ask('/v1/holdings/summary', asked)).toEqual({ status: 200, body: summary_v1 });
      if (round === 0) resident = residentBytes();
    }
    await fuzz(operations, ROUNDS * 2 + 1, authorizationOf);
    expect(residentBytes() - resident).toBeLessThan(GROWTH_BYTES_MAX);
  });
});
