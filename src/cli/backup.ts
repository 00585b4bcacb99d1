import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Refusal } from '../refusal.ts';
import { readSecretFile, readUsersFile, USERS_FILE } from '../users/backup.ts';
import { LOCAL_SECRET_FILE } from '../users/local-secret.ts';
import { backUpViews } from '../views/backup/backup.ts';
import { requireViews } from '../views/store/database.ts';
import type { CliCommand } from './command.ts';

export const backupCommand: CliCommand = {
  usage: 'backup <FILE>',
  summary: 'Write the views and the users of a data directory into one file; a service may run on it',
  examples: ['holdfast backup /backups/holdfast-monday', 'holdfast backup --data ./data --with-secret holdfast.backup'],
  addOptions: (command) => command.option('--with-secret', "put the directory's token secret into the file too"),
  run: async ({ args, options, config: { dataDir }, terminal }) => {
    const file = args[0]!;
    requireViews(dataDir);
    if (!existsSync(dirname(file))) throw new Refusal(`${file}: there is no folder ${dirname(file)} to put it in`);
    if (existsSync(file)) throw new Refusal(`${file}: is there already; name a file that is not`);
    const users = readUsersFile(dataDir);
    const secret = readSecretFile(dataDir);
    const files = [
      ...(users === null ? [] : [{ name: USERS_FILE, bytes: users }]),
      ...(secret !== null && options.withSecret === true ? [{ name: LOCAL_SECRET_FILE, bytes: secret }] : []),
    ];
    backUpViews(dataDir, file, { files, now: new Date() });
    const parts = ['views.db', ...files.map(({ name }) => name)].join(', ');
    terminal.stdout.write(`${file}: ${parts}\n`);
    if (secret !== null && options.withSecret !== true)
      terminal.stdout.write(
        `not in it: the token secret, ${join(dataDir, LOCAL_SECRET_FILE)}; keep a copy of it apart, or give --with-secret\n`,
      );
  },
};
