import { setImmediate as turn } from 'node:timers/promises';
import { PassingRefusal } from '../refusal.ts';
import { migratingText } from '../views/store/database.ts';
import { migrateViews } from '../views/store/migrations.ts';
import type { Invocation } from './command.ts';
import { createProgress } from './progress.ts';

/** Brings views.db to the tables of this program where they are older, before a command that writes opens it. `tellClients` is called with how far it is. */
export async function migrateOlderViews(
  { config: { dataDir }, terminal, logger }: Pick<Invocation, 'config' | 'terminal' | 'logger'>,
  {
    stop = terminal.stopSignal,
    tellClients = async () => {},
  }: { stop?: () => AbortSignal; tellClients?: (text: string) => Promise<void> } = {},
): Promise<void> {
  const steps = migrateViews(dataDir, {
    onBegin: (begun) =>
      logger.warn(
        begun,
        'migrating views.db: no older program can open it afterwards, only a backup that the older program made (holdfast backup)',
      ),
  });
  let signal: AbortSignal | null = null;
  using progress = createProgress({ doing: 'migrating views.db', stderr: terminal.stderr, logger });
  for (const step of steps) {
    const { from, to, percent } = step;
    signal ??= stop();
    const text = migratingText(from, percent);
    progress.update({ bar: `${from}`, done: percent, total: 100, text: `views.db to version ${to}`, logged: step });
    await tellClients(text);
    // Between steps a stop is noticed, and requests are answered.
    await turn();
    if (signal.aborted) throw new PassingRefusal(`stopped: ${text}; the next start continues`);
    if (percent === 100) logger.info(step, 'views.db is migrated');
  }
}
