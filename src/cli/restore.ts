import { accessSync, constants, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../refusal.ts';
import { USERS_FILE } from '../users/backup.ts';
import { LOCAL_SECRET_FILE } from '../users/local-secret.ts';
import { restoreViews } from '../views/backup/restore.ts';
import { makeDataDirectory } from '../views/store/database.ts';
import { lockForWriting } from '../views/store/writer-lock.ts';
import type { CliCommand } from './command.ts';

export const restoreCommand: CliCommand = {
  usage: 'restore <FILE>',
  summary: 'Create a data directory from a backup; it continues at the stored positions, with a Kafka group of its own',
  dataDir: 'made',
  examples: ['holdfast restore --data ./restored /backups/holdfast-monday'],
  run: async ({ args, config: { dataDir }, terminal }) => {
    const file = args[0]!;
    if (!existsSync(file) || !statSync(file).isFile()) throw new Refusal(`${file}: there is no such file`);
    requireReadable(file);
    makeDataDirectory(dataDir);
    if (readdirSync(dataDir).length > 0)
      throw new Refusal(`--data ${dataDir}: is not empty; name one that is empty or does not exist yet`);
    const names = restoreInto(dataDir, file);
    terminal.stdout.write(`${dataDir}: ${['views.db', ...names].join(', ')}\n`);
    if (!names.includes(LOCAL_SECRET_FILE))
      terminal.stdout.write(
        `not in the backup: a token secret; put one at ${join(dataDir, LOCAL_SECRET_FILE)}, ` +
          'or the next start creates a new one and old tokens are refused\n',
      );
  },
};

function requireReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new Refusal(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  }
}

/** Files that a backup may have besides views.db; one of another name could be written outside the directory. */
const ALLOWED = [USERS_FILE, LOCAL_SECRET_FILE];

/** On failure, the directory is emptied again. */
function restoreInto(dataDir: string, file: string): readonly string[] {
  try {
    using _lock = lockForWriting(dataDir);
    return restoreViews(file, dataDir, ALLOWED);
  } catch (error) {
    for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name));
    throw error;
  }
}
