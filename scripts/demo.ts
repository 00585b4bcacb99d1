import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type DemoStop, runDemo } from './demo/run.ts';
import { env, root, say, startService } from './demo/service.ts';
import { demonstrateUsers } from './demo/users.ts';
import { writeWeeks } from './demo/weeks.ts';

const PROGRAM = ['dist/main.js'];
const FIXTURE = 'fixtures/story.scan.ndjson';
const EXPECTED = 'fixtures/story.expected.json';
/** Alice has 300 locked here, and round 104 is two rounds after her coins were created. */
const ASKED = { snapshot: '2025-02-12T00:30:00Z', round: 104, owners: ['alice', 'bob'] };

const WEEKS = 3;

interface Answer {
  readonly computed_as_of_round: number;
  readonly summaries: readonly { readonly party_id: string }[];
}

interface Expected {
  readonly owner_party_ids: readonly string[];
  readonly snapshots: readonly { readonly record_time: string; readonly summaries_v0: readonly Answer[] }[];
}

/** The story, and after it some weeks of a few hundred owners, so that there is something to replay and to look at. */
function replay(folder: string, dataDir: string): void {
  const feed = join(folder, 'weeks.ndjson');
  const { bytes } = writeWeeks(feed, WEEKS);
  say(`1. Replay feeds: a small story, and the ${WEEKS} weeks after it in ${Math.round(bytes / 1e6)} MB\n`);
  console.log(`holdfast replay ${FIXTURE} ${feed}\n`);
  const args = [...PROGRAM, 'replay', FIXTURE, feed, '--data', dataDir];
  const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) throw new Error(`the replay ended with exit code ${status}`);
}

function readExpected(): { owners: readonly string[]; answer: Answer } {
  const { owner_party_ids, snapshots } = JSON.parse(readFileSync(join(root, EXPECTED), 'utf8')) as Expected;
  const owners = ASKED.owners.map((name) => owner_party_ids.find((party) => party.startsWith(`${name}::`))!);
  const snapshot = snapshots.find(({ record_time }) => record_time === ASKED.snapshot)!;
  const answer = snapshot.summaries_v0.find(({ computed_as_of_round }) => computed_as_of_round === ASKED.round)!;
  const summaries = answer.summaries.filter(({ party_id }) => owners.includes(party_id));
  return { owners, answer: { ...answer, summaries } };
}

/** Asks with curl where there is one. */
async function ask(url: string, question: object): Promise<unknown> {
  const body = JSON.stringify(question, null, 2);
  const address = `${url}/v0/holdings/summary`;
  say(`3. Ask who held how much:\n\ncurl ${address} -H 'Content-Type: application/json' -d '${body}'`);
  const type = 'Content-Type: application/json';
  const curl = spawnSync('curl', ['--silent', '--show-error', address, '-H', type, '-d', body], { encoding: 'utf8' });
  if (curl.error === undefined) return JSON.parse(curl.stdout);
  const response = await fetch(address, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  return await response.json();
}

/** `url`: where the service stays up; null where it ends with the demo. */
function sayWhatNext(url: string | null): void {
  const pages =
    url === null
      ? ''
      : `
   ${url}/        the dashboard: the supply, the largest holders, each owner
   ${url}/docs    every operation, to be tried in the browser
   ${url}/status  what was applied`;
  say(`Try next:${pages}
   npm test                  everything checked, on your machine
   node_modules/.bin/node dist/main.js replay --help    a feed of your own
   docs/operations.md        how to run it
   docs/api.md               what it answers and promises`);
}

async function demonstrate(folder: string, stopping: DemoStop): Promise<void> {
  const dataDir = join(folder, 'data');
  replay(folder, dataDir);
  stopping.check();
  say('2. Serve it: holdfast serve');
  await using service = await startService(['--data', dataDir], stopping);
  const { url } = service;
  console.log(`   ${url}`);
  const { owners, answer: expected } = readExpected();
  const question = {
    migration_id: 0,
    record_time: ASKED.snapshot,
    as_of_round: ASKED.round,
    owner_party_ids: owners,
  };
  const answer = await ask(url, question);
  console.log(`\n${JSON.stringify(answer, null, 2)}`);
  if (!isDeepStrictEqual(answer, expected)) throw new Error(`this is not what ${EXPECTED} says`);
  console.log(`\n   Just what ${EXPECTED} says, which was worked out without this program.`);
  await demonstrateUsers({ url, dataDir, env });
  const staysUp = process.stdin.isTTY && process.stdout.isTTY;
  sayWhatNext(staysUp ? url : null);
  if (!staysUp) {
    say('The demo has ended, because there is no terminal. In a terminal it stays up until you press Ctrl-C.');
    return;
  }
  say(`Look at it in your browser: ${url}/\n\nIt stays up until you press Ctrl-C.`);
  await service.ended;
}

await runDemo(demonstrate);
