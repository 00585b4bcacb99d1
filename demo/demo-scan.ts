import { party } from '../fixtures/names.ts';
import { type FakeScan, startFakeScan } from './local-scan.ts';
import { createWeeks, ROUND_MICROS, ROUNDS_OF_WEEK, roundLines } from './weeks.ts';

const WEEKS = 3;
/** A round takes that long while one looks at it, so that something happens. */
const LIVE_ROUND_MS = 5_000;
/** Of a round of the demo, about. */
const UPDATES_OF_ROUND = 8;

/** A Scan on this machine, of a ledger that began three weeks ago and goes on until it is disposed of. */
export async function startDemoScan(): Promise<FakeScan & { readonly updates: number }> {
  const ledger = createWeeks({ behind: 'nothing' });
  const rounds = WEEKS * ROUNDS_OF_WEEK;
  const from = Math.floor((Date.now() * 1000) / ROUND_MICROS - rounds) * ROUND_MICROS;
  const lines = Array.from({ length: rounds }, (_, made) =>
    roundLines(ledger, { start: from + made * ROUND_MICROS, share: made / rounds }),
  ).flat();
  const scan = await startFakeScan({ dso: party('DSO'), migrationId: 0, lines });
  let coming: (() => string)[] = [];
  const live = setInterval(() => {
    const now = (): number => Date.now() * 1000;
    if (coming.length === 0)
      coming = ledger.round({ start: now(), share: 1 }).map((each) => () => ledger.line(each, now()));
    scan.add(coming.shift()!());
  }, LIVE_ROUND_MS / UPDATES_OF_ROUND);
  return {
    ...scan,
    updates: lines.length,
    async [Symbol.asyncDispose]() {
      clearInterval(live);
      await scan[Symbol.asyncDispose]();
    },
  };
}
