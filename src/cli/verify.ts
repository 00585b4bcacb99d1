import { setImmediate as turn } from 'node:timers/promises';
import { counted } from '../counted.ts';
import type { Difference } from '../views/verify/types.ts';
import { type Verified, verifyViews } from '../views/verify/verify.ts';
import { type CliCommand, EXIT } from './command.ts';
import { createProgress } from './progress.ts';
import { safeText } from './terminal-text.ts';

/** One damaged number may show in every snapshot after it: more lines than these are no help. */
const DIFFERENCES_SHOWN_MAX = 1000;

export const verifyCommand: CliCommand = {
  usage: 'verify',
  summary: "Recompute every snapshot's totals and digests from the contracts, and name what differs",
  examples: ['holdfast verify', 'holdfast verify --data ./data'],
  run: async ({ config, terminal, logger }) => {
    const stop = terminal.stopSignal();
    let differences = 0;
    const report = (difference: Difference): void => {
      differences += 1;
      if (differences <= DIFFERENCES_SHOWN_MAX) terminal.stdout.write(`${safeText(differenceLine(difference))}\n`);
    };
    const { snapshots, owners, seeds } = await run(verifyViews(config.dataDir, report));
    if (differences > DIFFERENCES_SHOWN_MAX)
      terminal.stdout.write(`and ${counted(differences - DIFFERENCES_SHOWN_MAX, 'difference')} more\n`);
    const begins = seeds.map(({ migrationId, time }) => `; migration ${migrationId} begins with the seed of ${time}`);
    const looked = `${counted(snapshots, 'snapshot')}, ${counted(owners, 'owner')}${begins.join('')}`;
    terminal.stdout.write(
      differences === 0 ? `equal: ${looked}\n` : `${counted(differences, 'difference')}: ${looked}\n`,
    );
    return differences === 0 ? EXIT.ok : EXIT.differs;

    /** Yields to the event loop between steps, so that a stop is noticed. */
    async function run(steps: ReturnType<typeof verifyViews>): Promise<Verified> {
      const format = '{bar} {phase}: {value} of {total}';
      using progress = createProgress({ doing: 'verifying', format, clears: true, stderr: terminal.stderr, logger });
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
        const { phase, done, total } = step.value;
        progress.update({ bar: 'verify', done, total, shown: { phase }, logged: step.value });
        await turn();
        if (stop.aborted) {
          steps.return({ snapshots: 0, owners: 0, seeds: [] });
          throw new Error('stopped before the end; nothing was verified');
        }
      }
    }
  },
};

function differenceLine({ table, owner, snapshot, expected, found }: Difference): string {
  const place = [table, ...(owner === null ? [] : [`owner ${owner}`]), ...(snapshot === null ? [] : [snapshot])];
  return `${place.join('; ')}: expected ${expected}; found ${found}`;
}
