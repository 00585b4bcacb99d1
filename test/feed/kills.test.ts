import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { seededFeed } from '../../demo/active-contracts.ts';
import { startFakeScan } from '../../demo/local-scan.ts';
import { type Service, startService } from '../support/http/service.ts';
import { createRandom } from '../support/ledger/random.ts';
import { offsetOf } from '../support/ledger-api/answers.ts';
import { DSO, ownersIn, participantLedger } from '../support/ledger-api/ledger.ts';
import { seenLines, TEMPLATES, timesAt } from '../support/ledger-api/participant-ledger.ts';
import { seedLines } from '../support/ledger-api/seed-lines.ts';
import { startFakeParticipant } from '../support/ledger-api/server.ts';
import { holdfast } from '../support/program/command.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { scanLedger, timeOf } from '../support/scan/ledger.ts';
import { replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const KILLS = soakCount(1);
/** A snapshot import is killed always, and a beginning where all is done at length. */
const STARTS = KILLS > 1 ? ['snapshot', 'beginning'] : ['snapshot'];
const STARTED = 200;

/** A node that has the first lines of a ledger, and what a file of all of them has. */
interface Node extends AsyncDisposable {
  readonly args: readonly string[];
  readonly wanted: readonly string[];
  /** Adds the other lines. */
  goOn(): void;
}

async function scanNode(start: string): Promise<Node> {
  const lines = scanLedger(31, 400);
  const recordTime = timeOf(lines[STARTED - 50]!);
  const scan = await startFakeScan({ migrationId: 0, lines: lines.slice(0, STARTED), snapshots: [recordTime] });
  return {
    args: ['--scan', scan.url, '--scan-page-size', '3', '--scan-poll-interval', '100ms'],
    wanted: start === 'beginning' ? lines : seededFeed(lines, { recordTime }),
    goOn: () => scan.add(...lines.slice(STARTED)),
    [Symbol.asyncDispose]: () => scan[Symbol.asyncDispose](),
  };
}

async function participantNode(start: string): Promise<Node> {
  const lines = participantLedger(41, 400);
  const parties = ownersIn(lines);
  const seen = seenLines(lines, { parties, templates: TEMPLATES });
  const offset = offsetOf(lines[STARTED - 1]!);
  const imports = seedLines(seen, { offset, times: timesAt(lines, offset) });
  const participant = await startFakeParticipant({ lines: lines.slice(0, STARTED) });
  return {
    args: ['--ledger-api', participant.url, '--ledger-api-parties', parties.join(','), '--migration-id', '0'],
    wanted: start === 'beginning' ? seen : [...imports, ...seen.filter((line) => offsetOf(line) > offset)],
    goOn: () => participant.add(...lines.slice(STARTED)),
    [Symbol.asyncDispose]: () => participant[Symbol.asyncDispose](),
  };
}

/** All that the node has is stored. */
const isAtEnd = (_: unknown, body: unknown): boolean =>
  (body as { source: { network: { caught_up_at: string | null } } | null }).source?.network.caught_up_at != null;

async function kill({ program }: Service): Promise<void> {
  program.kill('SIGKILL');
  expect(await program.ended).toMatchObject({ signal: 'SIGKILL' });
}

describe.each([
  ['scan', scanNode],
  ['ledger-api', participantNode],
] as const)('serve --%s killed with SIGKILL at random moments and started again', (name, startNode) => {
  it.each(STARTS)(
    'leaves the views of the same feed read from a file (--start %s)',
    async (start) => {
      using directory = temporaryDirectory();
      await using node = await startNode(start);
      const random = createRandom(start.length + name.length);
      const data = directory.at('data');
      const args = ['--data', data, ...node.args, '--start', start, '--dso', DSO];
      for (let killed = 0; killed < KILLS; killed++) {
        await using service = await startService(args);
        await sleep(random.below(600));
        await kill(service);
      }
      {
        await using service = await startService(args);
        await service.until('/status', isAtEnd);
        node.goOn();
        await sleep(random.below(50));
        await kill(service);
      }
      await using service = await startService(args);
      await service.until('/status', isAtEnd);
      service.program.kill('SIGTERM');
      expect(await service.program.ended).toMatchObject({ code: 0 });
      const file = directory.writeLines('wanted.ndjson', node.wanted);
      await replayInto(directory.at('wanted'), [file], { dso: DSO });
      expect(dumpViews(data)).toEqual(dumpViews(directory.at('wanted')));
      expect(await holdfast('verify', '--data', data)).toMatchObject({ code: 0 });
    },
    300_000,
  );
});
