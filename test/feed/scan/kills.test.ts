import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService } from '../../support/http/service.ts';
import { createRandom } from '../../support/ledger/random.ts';
import { holdfast } from '../../support/program/command.ts';
import { soakCount } from '../../support/program/soak.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { seededFeed } from '../../support/scan/active-contracts.ts';
import { DSO, scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { type FakeScan, startFakeScan } from '../../support/scan/server.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const KILLS = soakCount(4);
const TIMEOUT_MS = 300_000;
const LINES = scanLedger(31, 600);
const SEEDED_AT = timeOf(LINES[250]!);

const directory = temporaryDirectory();
let scan: FakeScan;
afterAll(async () => {
  await scan[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});
beforeAll(async () => {
  scan = await startFakeScan({ migrationId: 0, lines: LINES, snapshots: [SEEDED_AT] });
});

/** The lines of a file with all that a start reads. */
function linesFrom(start: string): readonly string[] {
  return start === 'beginning' ? LINES : seededFeed(LINES, { recordTime: SEEDED_AT });
}

describe(`serve --scan killed with SIGKILL at random moments, ${KILLS} times, and started again`, () => {
  it.each(['snapshot', 'beginning'])(
    'leaves the views of the same feed read from a file (--start %s)',
    async (start) => {
      const random = createRandom(start.length);
      const data = directory.at(start);
      const args = ['--data', data, '--scan', scan.url, '--start', start, '--scan-page-size', '3'];
      for (let killed = 0; killed < KILLS; killed++) {
        await using service = await startService(args);
        await sleep(random.below(700));
        service.program.kill('SIGKILL');
        expect(await service.program.ended).toMatchObject({ signal: 'SIGKILL' });
      }
      {
        await using service = await startService(args);
        await service.until('/readyz', (_, body) => (body as { ready: boolean }).ready);
        service.program.kill('SIGTERM');
        expect(await service.program.ended).toMatchObject({ code: 0 });
      }
      const file = directory.writeLines(`${start}.ndjson`, linesFrom(start));
      await replayInto(directory.at(`${start}-wanted`), [file], { dso: DSO });
      expect(dumpViews(data)).toEqual(dumpViews(directory.at(`${start}-wanted`)));
      expect(await holdfast('verify', '--data', data)).toMatchObject({ code: 0 });
    },
    TIMEOUT_MS,
  );
});
