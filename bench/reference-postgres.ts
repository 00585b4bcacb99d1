import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { POSTGRES_BIN, serverUser } from '../test/support/scale/postgres.ts';

const SETTINGS = ['shared_buffers=1GB', 'work_mem=64MB', 'max_wal_size=4GB', "listen_addresses=''"];

/** A PostgreSQL of its own, reached through the socket in its folder; gone with everything in it when disposed. */
export interface Postgres extends Disposable {
  readonly folder: string;
  /** Runs SQL (or reads a COPY from the text after it) and returns what psql prints. */
  sql(text: string): string;
}

export function startPostgres(): Postgres {
  execFileSync(join(import.meta.dirname, '..', 'scripts', 'setup-postgres.sh'), { stdio: ['ignore', 2, 2] });
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'));
  const owner = serverUser();
  if (owner !== null) chownSync(folder, owner.uid, owner.gid);
  const run = (command: string, args: readonly string[], input = ''): string => {
    const options = { ...owner, input, cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 } as const;
    return execFileSync(join(POSTGRES_BIN, command), args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
  };
  const data = join(folder, 'data');
  run('initdb', ['-D', data, '-U', 'bench', '-A', 'trust']);
  const options = [...SETTINGS, `unix_socket_directories='${folder}'`].map((setting) => `-c ${setting}`).join(' ');
  run('pg_ctl', ['-D', data, '-w', '-l', join(folder, 'log'), '-o', options, 'start']);
  return {
    folder,
    sql: (text) => run('psql', ['-h', folder, '-U', 'bench', '-d', 'postgres', '-qAtX', '-v', 'ON_ERROR_STOP=1'], text),
    [Symbol.dispose]() {
      run('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop']);
      rmSync(folder, { recursive: true });
    },
  };
}
