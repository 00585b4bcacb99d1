import type { Logger } from 'pino';
import { answersFrom } from '../holdings/answer.ts';
import type { AnswerRules } from '../holdings/summary.ts';
import { describeServer } from '../postgres/connection.ts';
import { startSealer } from '../postgres/sealer.ts';
import type { PostgresSettings } from '../postgres/settings.ts';
import { openPostgresStore } from '../postgres/store.ts';
import { createPostgresHealth } from './postgres-health.ts';
import { measurePostgres } from './postgres-metrics.ts';
import { READ_ONLY_LOOK_MS } from './reading.ts';
import type { Role } from './role.ts';

/** Reads what a stream engine writes, and seals it. The database need not be there yet: until it is, nothing is ready. */
export function openPostgres(
  settings: PostgresSettings,
  { version, rules, logger }: { version: string; rules: AnswerRules; logger: Logger },
): Role {
  const store = openPostgresStore(settings);
  const sealer = startSealer(settings, logger);
  const name = describeServer(settings);
  const health = createPostgresHealth({ store, name, version, sealFailure: sealer.failure, clockMs: Date.now });
  return {
    holdings: {
      name: { store: name },
      store,
      answers: {
        json: (question, asker) => answersFrom(store.for(asker()), rules).json(question),
        table: (question, form, asker) => answersFrom(store.for(asker()), rules).table(question, form),
      },
      measure: (registry) => measurePostgres(registry, store),
    },
    health,
    streamStatus: () => ({
      phase: 'caught_up',
      lag_seconds: null,
      updates: 0,
      halted: null,
      degraded: health.degraded(),
    }),
    streamLookMs: READ_ONLY_LOOK_MS,
    ingestStatus: null,
    force: null,
    users: null,
    failed: new Promise(() => {}),
    async [Symbol.asyncDispose]() {
      await sealer[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}
