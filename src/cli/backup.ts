import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_SECRET_FILE } from '../users/local-secret.ts';
import { backUp, restore } from '../views/views-backup.ts';
import type { CliCommand } from './command.ts';

export const backupCommand: CliCommand = {
  usage: 'backup <DIR>',
  summary: 'Copy a data directory into a new one, views and users; a service may run on it',
  examples: ['holdfast backup /backups/monday', 'holdfast backup --data ./data --with-secret /backups/monday'],
  addOptions: (command) => command.option('--with-secret', "copy the directory's token secret too"),
  run: async ({ args, options, config: { dataDir }, terminal }) => {
    const target = args[0]!;
    backUp(dataDir, target, { withSecret: options.withSecret === true });
    terminal.stdout.write(`${target} is the backup of ${dataDir}\n`);
    if (existsSync(join(dataDir, LOCAL_SECRET_FILE)) && options.withSecret !== true)
      terminal.stdout.write(
        `not in it: the token secret, ${join(dataDir, LOCAL_SECRET_FILE)}; keep a copy of it apart, or give --with-secret\n`,
      );
  },
};

export const restoreCommand: CliCommand = {
  usage: 'restore <DIR>',
  summary: 'Create a data directory from a backup; it continues at the stored positions, with a Kafka group of its own',
  dataDir: 'made',
  examples: ['holdfast restore --data ./restored /backups/monday'],
  run: async ({ args, config: { dataDir }, terminal }) => {
    const backup = args[0]!;
    restore(backup, dataDir);
    terminal.stdout.write(`${dataDir} is restored from ${backup}\n`);
    const secret = join(dataDir, LOCAL_SECRET_FILE);
    if (!existsSync(secret))
      terminal.stdout.write(
        `not in the backup: a token secret; put one at ${secret}, or the next start creates a new one and old tokens are refused\n`,
      );
  },
};
