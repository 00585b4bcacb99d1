import { accessSync, constants, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../refusal.ts';
import { USERS_FILE, usersFileFault } from '../users/backup.ts';
import { LOCAL_SECRET_FILE } from '../users/tokens/local-secret.ts';
import { type FaultsByName, type Restored, restoreViews } from '../views/backup/restore.ts';
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
    const { names, sealed } = restoreInto(dataDir, file);
    terminal.stdout.write(`${dataDir}: ${['views.db', ...names].join(', ')}\n`);
    if (!names.includes(LOCAL_SECRET_FILE))
      terminal.stdout.write(
        `not in the backup: a token secret; put one at ${join(dataDir, LOCAL_SECRET_FILE)}, ` +
          'or the next start creates a new one and old tokens are refused\n',
      );
    if (!sealed)
      terminal.stdout.write(
        'an earlier program wrote this backup, without a hash of its bytes: ' +
          `\`holdfast verify --data ${dataDir}\` checks the totals\n`,
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

/** Files that a backup may have besides views.db. A secret may be any bytes. */
const FAULTS: FaultsByName = { [USERS_FILE]: usersFileFault, [LOCAL_SECRET_FILE]: () => null };

/** On failure, the directory is emptied again. */
function restoreInto(dataDir: string, file: string): Restored {
  try {
    using _lock = lockForWriting(dataDir);
    return restoreViews(file, dataDir, FAULTS);
  } catch (error) {
    for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name));
    throw error;
  }
}
