import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { party } from '../fixtures/names.ts';
import { startFakeScan } from '../test/support/scan/server.ts';
import { partyNames } from './demo/names.ts';
import { type DemoStop, runDemo } from './demo/run.ts';
import { say, startService } from './demo/service.ts';
import { createWeeks, ROUND_MICROS, roundLines, type Weeks } from './demo/weeks.ts';

/** How to follow a network, shown with a server that answers as a Scan does, over a ledger that goes on while it is followed. */
const HISTORY_ROUNDS = 144;
const SCAN_SNAPSHOT_MICROS = 3 * 3_600_000_000;
/** A round of the demo is that long, so that something happens. */
const LIVE_ROUND_MS = 5_000;
const SNAPSHOTS_SHOWN = 3;
const WAIT_MAX_MS = 60_000;

const timeText = (micros: number): string => new Date(micros / 1000).toISOString();

interface Summary {
  readonly summaries: readonly { readonly party_id: string; readonly total_unlocked_coin: string }[];
}

async function ask(url: string, question?: object): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  return fetch(url, question && { method: 'POST', headers, body: JSON.stringify(question) });
}

async function waited<T>(what: string, look: () => Promise<T | null>, stopping: DemoStop): Promise<T> {
  const deadline = Date.now() + WAIT_MAX_MS;
  for (;;) {
    stopping.check();
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${WAIT_MAX_MS / 1000} s`);
    await sleep(100);
  }
}

/** Adds what happens now, until it is stopped. */
function goOn(ledger: Weeks, add: (line: string) => void): Disposable {
  let coming: (() => void)[] = [];
  const timer = setInterval(() => {
    if (coming.length === 0)
      coming = ledger
        .round({ start: Date.now() * 1000, share: 1 })
        .map((each) => () => add(ledger.line(each, Date.now() * 1000)));
    coming.shift()!();
  }, LIVE_ROUND_MS / 8);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

interface Status {
  readonly seeded_at: string;
  readonly source: { readonly position: string; readonly network: { readonly seed_contracts: number } };
}

interface Snapshot {
  readonly record_time: string;
  readonly owners: number;
  readonly unlocked: string;
}

async function demonstrate(folder: string, stopping: DemoStop): Promise<void> {
  const now = Date.now() * 1000;
  const importedAt = Math.floor(now / SCAN_SNAPSHOT_MICROS) * SCAN_SNAPSHOT_MICROS;
  const ledger = createWeeks();
  const from = now - HISTORY_ROUNDS * ROUND_MICROS;
  const lines = Array.from({ length: HISTORY_ROUNDS }, (_, made) =>
    roundLines(ledger, { start: from + made * ROUND_MICROS, share: made / HISTORY_ROUNDS }),
  ).flat();

  await using scan = await startFakeScan({ dso: party('DSO'), lines, snapshots: [timeText(importedAt)] });
  say(
    `1. A server that answers as a Scan does, with ${lines.length} updates of the last day, and more as we speak\n\n   ${scan.url}`,
  );
  using _ = goOn(ledger, (line) => scan.add(line));

  const options = ['--scan', scan.url, '--scan-poll-interval', '1s', '--snapshot-period', '10s'];
  say(`2. Follow it:\n\nholdfast serve --data ./data ${options.join(' ')}`);
  await using service = await startService(['--data', join(folder, 'data'), ...options], stopping);
  const { url } = service;
  await waited('ready', async () => ((await ask(`${url}/readyz`)).ok ? true : null), stopping);
  const { seeded_at, source } = (await (await ask(`${url}/status`)).json()) as Status;
  console.log(`
   It began with the ${source.network.seed_contracts} contracts that were active at ${seeded_at}, as the Scan gives them,
   and has applied every update since then, up to ${source.position.split(' ')[1]}.`);

  const question = {
    ...{ migration_id: 0, record_time: timeText(importedAt) },
    owner_party_ids: partyNames(3).map(party),
  };
  say('3. Ask both who held how much when it began: POST /v1/holdings/summary');
  const [own, theirs] = (await Promise.all(
    [`${url}/v1/holdings/summary`, `${scan.url}/api/scan/v1/holdings/summary`].map(async (each) =>
      (await ask(each, question)).json(),
    ),
  )) as [Summary, Summary];
  console.log();
  for (const { party_id, total_unlocked_coin: coin } of theirs.summaries) {
    const found = own.summaries.find((each) => each.party_id === party_id)?.total_unlocked_coin;
    if (found !== coin) throw new Error(`of ${party_id} the Scan says ${coin}, and holdfast ${found}`);
    console.log(`   ${party_id.split('::')[0]!.padEnd(12)} ${coin.padStart(20)}   the same`);
  }

  say('4. The ledger goes on; a snapshot is sealed every ten seconds:\n');
  let shown = '';
  for (let left = SNAPSHOTS_SHOWN; left > 0; left--) {
    const newest = await waited(
      'a later snapshot',
      async () => {
        const list = (await (await ask(`${url}/holdfast/v1/snapshots?limit=1&order=desc`)).json()) as {
          snapshots: Snapshot[];
        };
        const [last] = list.snapshots;
        return last === undefined || last.record_time === shown ? null : last;
      },
      stopping,
    );
    shown = newest.record_time;
    console.log(`   ${shown}  ${newest.owners} owners  ${newest.unlocked} unlocked`);
  }

  say(`Of a real network it is one line too:

   holdfast serve --data ./data --scan https://scan.sv-1.example

   docs/follow-a-network.md  what to type, what a Scan sees and what it does not, into a file and into Kafka`);
  if (!(process.stdin.isTTY && process.stdout.isTTY)) return;
  say(`Look at it in your browser, as it changes: ${url}/\n\nIt stays up until you press Ctrl-C.`);
  await service.ended;
}

await runDemo(demonstrate);
