import { setImmediate as turn } from 'node:timers/promises';
import { counted } from '../counted.ts';
import type { Difference } from '../views/verify/verify-context.ts';
import { verifyViews } from '../views/verify/verify-views.ts';
import { type CliCommand, EXIT } from './command.ts';
import { createProgress } from './progress.ts';
import { safeText } from './terminal.ts';

/** One damaged number may show in every snapshot after it: more lines than these are no help. */
const DIFFERENCES_SHOWN_MAX = 1000;

export const verifyCommand: CliCommand = {
  usage: 'verify',
  summary: 'Recompute totals and digests from the contracts, and name what differs',
  examples: ['holdfast verify', 'holdfast verify --data ./data'],
  run: async ({ config, terminal: { stdout, stderr, stopSignal }, logger }) => {
    const stop = stopSignal();
    let differences = 0;
    const report = (difference: Difference): void => {
      differences += 1;
      if (differences <= DIFFERENCES_SHOWN_MAX) stdout.write(`${safeText(differenceLine(difference))}\n`);
    };
    const steps = verifyViews(config.dataDir, report);
    using progress = createProgress({ doing: 'verifying', stderr, logger });
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) {
      const { phase, done, total } = step.value;
      progress.update({ bar: 'verify', done, total, text: `${done} of ${total} | ${phase}`, logged: step.value });
      // Between steps a stop is noticed.
      await turn();
      if (stop.aborted) {
        steps.return({ snapshots: 0, owners: 0, seeds: [] });
        throw new Error('stopped before the end; nothing was verified');
      }
    }
    progress[Symbol.dispose]();
    const { snapshots, owners, seeds } = step.value;
    if (differences > DIFFERENCES_SHOWN_MAX)
      stdout.write(`and ${counted(differences - DIFFERENCES_SHOWN_MAX, 'difference')} more\n`);
    const result = differences === 0 ? 'equal' : counted(differences, 'difference');
    const imports = seeds.map(
      ({ migrationId, time }) => `; migration ${migrationId} begins with the import of ${time}`,
    );
    stdout.write(`${result}: ${counted(snapshots, 'snapshot')}, ${counted(owners, 'owner')}${imports.join('')}\n`);
    return differences === 0 ? EXIT.ok : EXIT.differs;
  },
};

function differenceLine({ table, owner, snapshot, expected, found }: Difference): string {
  const where = [table, ...(owner === null ? [] : [`owner ${owner}`]), ...(snapshot === null ? [] : [snapshot])];
  return `${where.join('; ')}: expected ${expected}; found ${found}`;
}
