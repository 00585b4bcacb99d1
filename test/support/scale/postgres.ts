import { execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { PostgresSettings } from '../../../src/scale/postgres-settings.ts';
import { freePorts } from '../program/free-ports.ts';

export const POSTGRES_BIN = '/usr/lib/postgresql/15/bin';
const OWNER = 'owner';
const run = promisify(execFile);

/** A PostgreSQL server of a test's own, on a port of 127.0.0.1, without passwords. */
export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** Stops it at once, as a crash does. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Puts a file into its data directory, which only it may read. */
  writeFile(name: string, text: string): void;
  url(user?: string): string;
  settings(user?: string, database?: string): PostgresSettings;
  /** A client that is connected, as its owner or another user. */
  connect(user?: string, database?: string): Promise<Client & AsyncDisposable>;
}

/**
 * It dies with this process, however this process ends: a shell waits on the pipe that only we hold. What is measured wants settings
 * such as `fsync=on`.
 */
export async function startPostgres(more: readonly string[] = []): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'));
  const user = serverUser();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder };
  await run(
    `${POSTGRES_BIN}/initdb`,
    ['-D', data, '-U', OWNER, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    options,
  );
  const [port] = (await freePorts(1)) as [number];
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'fsync=off',
    ...more,
  ];
  const postgres = [`${POSTGRES_BIN}/postgres`, '-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const script = '"$@" </dev/null 1>&2 & cat >/dev/null; kill -QUIT $!; wait';
  let stop = async (): Promise<void> => {};

  async function start(): Promise<void> {
    const shell = spawn('sh', ['-c', script, 'sh', ...postgres], { ...options, stdio: ['pipe', 'ignore', 'ignore'] });
    const exited = new Promise((resolve) => shell.once('exit', resolve));
    stop = async () => {
      shell.stdin!.end();
      await exited;
    };
    for (let left = 1_000; ; left--) {
      try {
        await (await connect()).end();
        return;
      } catch (error) {
        if (left === 0) throw error;
        await sleep(100);
      }
    }
  }

  const settingsOf = (as = OWNER, database = 'postgres'): PostgresSettings => {
    return { host: '127.0.0.1', port, database, user: as, password: null, ssl: null };
  };

  const url = (as = OWNER): string => `postgres://${as}@127.0.0.1:${port}/postgres`;

  async function connect(as = OWNER, database = 'postgres'): Promise<Client & AsyncDisposable> {
    const client = new Client({ host: '127.0.0.1', port, user: as, database });
    await client.connect();
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
  }
  await start();
  return {
    port,
    url,
    settings: settingsOf,
    connect,
    start,
    stop: () => stop(),
    writeFile(name, text) {
      writeFileSync(join(data, name), text, { mode: 0o600 });
      if (user !== null) chownSync(join(data, name), user.uid, user.gid);
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** PostgreSQL refuses to run as root; Debian's package creates a user for it. */
export function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
