import { POSTGRES_KEYS } from '../config/postgres.ts';
import { optionName } from '../config/settings.ts';
import type { Config } from '../config.ts';
import type { PostgresSettings } from '../postgres/settings.ts';
import { Refusal } from '../refusal.ts';

/** The settings of every command about the job. */
export const FLINK_KEYS = ['flinkRest', ...POSTGRES_KEYS] as const;

export function requireRest({ flinkRest }: Config): string {
  if (flinkRest === null) throw new Refusal(`${optionName('flinkRest')} says which JobManager`);
  return flinkRest;
}

/** `env`: for PGPASSWORD, which the job cannot read itself. */
export function requirePostgres({ postgres }: Config, env: NodeJS.ProcessEnv): PostgresSettings {
  if (postgres === null) throw new Refusal(`${optionName('postgres')} says which store`);
  return { ...postgres, password: postgres.password ?? env.PGPASSWORD ?? null };
}
