import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '..');

export interface Server extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** Starts a server in a process of its own; the line of JSON on its standard error that has a `url` says that it listens. */
export async function startServer(args: readonly string[]): Promise<Server> {
  const server = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  for await (const line of createInterface({ input: server.stderr! })) {
    log += `${line}\n`;
    const { url } = JSON.parse(line) as { url?: string };
    if (url === undefined) continue;
    server.stderr!.resume();
    return { url, pid: server.pid!, [Symbol.asyncDispose]: () => stop(server) };
  }
  throw new Error(`${args.join(' ')} did not start:\n${log}`);
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}
