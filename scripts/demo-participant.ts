import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startFakeParticipant } from '../test/support/ledger-api/server.ts';
import { createInstruments, INSTRUMENTS, OWNERS } from './demo/instruments.ts';
import { type DemoStop, runDemo } from './demo/run.ts';
import { say, startService } from './demo/service.ts';

/** How to follow the holdings of a participant, shown with a server that answers as one does, over a ledger that goes on meanwhile. */
const HISTORY_UPDATES = 2_000;
const HISTORY_MICROS = 7_200_000_000;
const UPDATE_MS = 400;
const TABLES_SHOWN = 3;
const WAIT_MAX_MS = 60_000;

interface Instruments {
  readonly record_time: string;
  readonly instruments: readonly Readonly<
    Record<'admin' | 'id' | 'total' | 'owners' | 'contracts' | 'scope', string>
  >[];
}

/** The instruments of a snapshot other than the one shown last, once all updates are applied. */
async function nextInstruments(url: string, shown: string, stopping: DemoStop): Promise<Instruments> {
  for (const deadline = Date.now() + WAIT_MAX_MS; Date.now() < deadline; await sleep(200)) {
    stopping.check();
    if (!(await fetch(`${url}/readyz`)).ok) continue;
    const response = await fetch(`${url}/holdfast/v1/instruments`);
    const found = response.ok ? ((await response.json()) as Instruments) : null;
    if (found !== null && found.record_time !== shown && found.instruments.length === INSTRUMENTS.length) return found;
  }
  throw new Error(`no other snapshot of ${INSTRUMENTS.length} instruments within ${WAIT_MAX_MS / 1000} s`);
}

async function demonstrate(folder: string, stopping: DemoStop): Promise<void> {
  const ledger = createInstruments();
  const begin = Date.now() * 1000 - HISTORY_MICROS;
  const apart = HISTORY_MICROS / HISTORY_UPDATES;
  const lines = Array.from({ length: HISTORY_UPDATES }, (_, made) => ledger.line(begin + made * apart));
  await using participant = await startFakeParticipant({ lines, localParties: OWNERS, holdings: ['V1'] });
  say(
    `1. A server that answers as a participant does, with ${lines.length} updates of two hours, and more as we speak\n\n   ${participant.url}`,
  );
  const timer = setInterval(() => participant.add(ledger.line(Date.now() * 1000)), UPDATE_MS);
  using _ = { [Symbol.dispose]: () => clearInterval(timer) };

  const names = join(folder, 'instruments.json');
  writeFileSync(names, JSON.stringify(INSTRUMENTS));
  const options = ['--ledger-api', participant.url, '--ledger-api-parties', 'all', '--start', 'beginning'];
  const more = ['--snapshot-period', '10s'];
  say(
    `2. Follow it:\n\nholdfast serve --data ./data ${[...options, ...more].join(' ')} --instruments instruments.json`,
  );
  const data = ['--data', join(folder, 'data')];
  await using service = await startService([...data, ...options, ...more, '--instruments', names], stopping);
  const { url } = service;

  say(`3. What its owners hold, as it changes: ${url}/tokens or curl ${url}/holdfast/v1/instruments`);
  let shown = '';
  for (let left = TABLES_SHOWN; left > 0; left--) {
    const { record_time: time, instruments } = await nextInstruments(url, shown, stopping);
    shown = time;
    console.log(`\n   ${time}`);
    for (const { admin, id, total, owners, contracts, scope } of instruments) {
      const { symbol } = INSTRUMENTS.find((each) => each.admin === admin && each.id === id)!;
      console.log(`   ${symbol.padEnd(6)} ${total.padStart(26)}  ${owners} owners, ${contracts} contracts (${scope})`);
    }
  }

  say(`Of your own participant it is one line too:

   holdfast serve --data ./data --ledger-api http://participant:7575 --ledger-api-parties all --ledger-api-token-file token --migration-id 4

   docs/follow-a-network.md  what to type, what a participant shows, and what its token needs`);
  if (!(process.stdin.isTTY && process.stdout.isTTY)) return;
  say('It stays up until you press Ctrl-C.');
  await service.ended;
}

await runDemo(demonstrate);
