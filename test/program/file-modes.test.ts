import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { startProgram } from '../support/program/program.ts';

const directory = freshDirectory();
/** The widest modes that a process can make files with. */
const OPEN = { limits: 'umask 0' };
const DATABASES = ['lock.db', 'users.db', 'users.db-shm', 'users.db-wal', 'views.db', 'views.db-shm', 'views.db-wal'];

/** The modes of the databases' files in a folder, of those that others may read or write. */
function openToOthers(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.includes('.db'));
  return names.filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0);
}

it('keeps databases and their logs private, whatever the mode of the directory and the umask', async () => {
  const data = directory.at('data');
  mkdirSync(data);
  chmodSync(data, 0o755);
  const feed = directory.writeLines('feed.ndjson', [emptyUpdate('s', 0), emptyUpdate('s', 1_000)]);
  const args = ['serve', '--data', data, '--port', '0', '--file', feed];
  {
    await using service = startProgram(args, OPEN);
    await service.logged('listening');
    await expect.poll(() => readdirSync(data)).toEqual(expect.arrayContaining(DATABASES));
    expect(openToOthers(data)).toEqual([]);
    service.kill('SIGKILL');
    await service.ended;
  }
  for (const name of DATABASES) chmodSync(join(data, name), 0o666);
  {
    await using service = startProgram(args, OPEN);
    await service.logged('listening');
    expect(openToOthers(data)).toEqual([]);
  }
  expect(statSync(data).mode & 0o777).toBe(0o755);
});
