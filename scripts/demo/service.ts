import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DemoStop } from './run.ts';

export const root = join(import.meta.dirname, '../..');

/** The program reads HOLDFAST_* settings; those of the shell that runs the demo are not meant for it. */
export const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_')));

export function say(text: string): void {
  console.log(`\n${text}`);
}

export interface DemoService extends AsyncDisposable {
  readonly url: string;
  /** Resolves when it ends by itself. */
  readonly ended: Promise<unknown>;
}

/** Starts the service on a free port; its log line `listening` says which. */
export async function startService(options: readonly string[], { watch }: DemoStop): Promise<DemoService> {
  const args = ['dist/main.js', 'serve', ...options, '--port', '0'];
  const service = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'pipe'] });
  watch(service);
  const ended = once(service, 'exit');
  let log = '';
  for await (const line of createInterface({ input: service.stderr! })) {
    log += `${line}\n`;
    const url = /"url":"([^"]+)".*"msg":"listening"/.exec(line)?.[1];
    if (url === undefined) continue;
    service.stderr!.resume();
    return { url, ended, [Symbol.asyncDispose]: () => stop(service, ended) };
  }
  throw new Error(`the service did not start:\n${log}`);
}

async function stop(service: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (service.exitCode !== null || service.signalCode !== null) return;
  service.kill('SIGTERM');
  await ended;
}
