import { keysOf } from '../config/setting-list.ts';
import { Refusal } from '../refusal.ts';
import { POSTGRES_SETTINGS } from '../scale/postgres-settings.ts';
import { migrateStore } from '../scale/store-form.ts';
import { optionName } from '../setting-kinds.ts';
import { PERIOD_DEFAULT_US } from '../views/store/database.ts';
import type { CliCommand } from './command.ts';

export const migrateCommand: CliCommand = {
  usage: 'migrate',
  summary: 'Make the store in PostgreSQL, or bring it to the form of this version',
  examples: ['holdfast migrate --postgres postgres://owner@db:5432/holdfast --dso DSO::1220ab'],
  dataDir: 'unused',
  settings: [...keysOf(POSTGRES_SETTINGS), 'dso', 'snapshotPeriod'],
  helps: { dso: 'the DSO whose coins count, that of the decoders; required' },
  run: async ({ config, terminal }) => {
    const { postgres, dso, snapshotPeriodUs } = config;
    if (postgres === null) throw new Refusal(`${optionName('postgres')} says which database`);
    if (dso === null) throw new Refusal(`${optionName('dso')} is required: it is that of the decoders`);
    const periodUs = snapshotPeriodUs ?? PERIOD_DEFAULT_US;
    const { from, to } = await migrateStore(postgres, { periodUs, dso });
    const did = from === to ? `has form ${to} already` : `was brought from form ${from} to ${to}`;
    terminal.stdout.write(`the store in database ${postgres.database} ${did}\n`);
  },
};
