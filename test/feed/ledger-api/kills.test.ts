import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService } from '../../support/http/service.ts';
import { createRandom } from '../../support/ledger/random.ts';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { DSO, ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { seenLines, TEMPLATES, timesAt } from '../../support/ledger-api/participant-ledger.ts';
import { seedLines } from '../../support/ledger-api/seed-lines.ts';
import { type FakeParticipant, startFakeParticipant } from '../../support/ledger-api/server.ts';
import { runProgram } from '../../support/program/program.ts';
import { soakCount } from '../../support/program/soak.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const KILLS = soakCount(2);
const TIMEOUT_MS = 300_000;
const LINES = participantLedger(41, 600);
const PARTIES = ownersIn(LINES);
const SEEN = seenLines(LINES, { parties: PARTIES, templates: TEMPLATES });
const SEEDED = 300;
const OFFSET = offsetOf(LINES[SEEDED - 1]!);

const directory = temporaryDirectory();
let participant: FakeParticipant;
afterAll(async () => {
  await participant[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});
beforeAll(async () => {
  participant = await startFakeParticipant();
});

/** The lines of a file with all that a start reads. */
function linesFrom(start: string): readonly string[] {
  if (start === 'beginning') return SEEN;
  const behind = SEEN.filter((line) => offsetOf(line) > OFFSET);
  return [...seedLines(SEEN, { offset: OFFSET, times: timesAt(LINES, OFFSET) }), ...behind];
}

describe(`serve --ledger-api killed with SIGKILL at random moments, ${KILLS} times, and started again`, () => {
  it.each(['snapshot', 'beginning'])(
    'leaves the views of the same updates read from a file (--start %s)',
    async (start) => {
      const random = createRandom(start.length);
      const data = directory.at(start);
      const named = ['--ledger-api', participant.url, '--ledger-api-parties', PARTIES.join(',')];
      const args = ['--data', data, ...named, '--start', start, '--dso', DSO, '--migration-id', '0'];
      participant.lines.splice(0);
      participant.add(...LINES.slice(0, SEEDED));
      for (let killed = 0; killed < KILLS; killed++) {
        await using service = await startService(args);
        await sleep(random.below(500));
        service.program.kill('SIGKILL');
        expect(await service.program.ended).toMatchObject({ signal: 'SIGKILL' });
      }
      {
        await using service = await startService(args);
        const isAt = (offset: number) => (_: unknown, body: unknown) =>
          (body as { source: { position: string } | null }).source?.position === String(offset);
        await service.until('/status', isAt(OFFSET));
        participant.add(...LINES.slice(SEEDED));
        await sleep(random.below(50));
        service.program.kill('SIGKILL');
        await service.program.ended;
        await using last = await startService(args);
        await last.until('/status', isAt(offsetOf(LINES.at(-1)!)));
        last.program.kill('SIGTERM');
        expect(await last.program.ended).toMatchObject({ code: 0 });
      }
      const file = directory.writeLines(`${start}.ndjson`, linesFrom(start));
      await replayInto(directory.at(`${start}-wanted`), [file], { dso: DSO });
      expect(dumpViews(data)).toEqual(dumpViews(directory.at(`${start}-wanted`)));
      expect(await runProgram(['verify', '--data', data])).toMatchObject({ code: 0 });
    },
    TIMEOUT_MS,
  );
});
