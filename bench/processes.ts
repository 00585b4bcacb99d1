import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '..');

export interface Server extends AsyncDisposable {
  readonly url: string;
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
    return { url, [Symbol.asyncDispose]: () => stop(server) };
  }
  throw new Error(`${args.join(' ')} did not start:\n${log}`);
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}

export interface Load {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

/** Asks the same question over 16 connections for some seconds, from a process of its own. */
export function load(url: string, body: string, seconds: number): Load {
  return loadWith(url, ['--method', 'POST', '--headers', 'content-type=application/json', '--body', body], seconds);
}

/** The same with a request as autocannon's options describe it. */
export function loadWith(url: string, request: readonly string[], seconds: number): Load {
  const autocannon = join(root, 'node_modules', '.bin', 'autocannon');
  const args = ['--json', '--no-progress', '--connections', '16', '--duration', String(seconds), ...request, url];
  const output = execFileSync(process.execPath, [autocannon, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const result = JSON.parse(output) as Result;
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} bad answers, ${result.errors} errors`);
  return { requestsPerSecond: result.requests.average, p99Ms: result.latency.p99 };
}

interface Result {
  readonly requests: { readonly average: number };
  readonly latency: { readonly p99: number };
  readonly non2xx: number;
  readonly errors: number;
}
