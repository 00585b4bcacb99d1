import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programEnv } from '../../test/support/program/soak.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'dist/main.js');
const ERROR_LEVEL = 50;
const ERRORS_TOLD_MAX = 5;

/** A process of `holdfast serve` that runs for long: its log goes to a file, and only what is wrong in it is kept. */
export interface SoakedService extends AsyncDisposable {
  readonly url: string;
  /** Rejects where it ends before it is stopped. */
  readonly failed: Promise<never>;
  residentMiB(): number;
  status(): Promise<ServiceStatus>;
  /** The first lines of the log that name an error. */
  errors(): readonly string[];
  /** Sends SIGTERM; how it ended. */
  stop(): Promise<number | NodeJS.Signals>;
}

/** What of /status is compared with what was fed. */
export interface ServiceStatus {
  readonly phase: string;
  readonly counts: { readonly updates: number; readonly events: number; readonly decided: number };
  readonly dead_letters: Readonly<Record<string, number>>;
}

export async function startSoaked(args: readonly string[], logFile: string): Promise<SoakedService> {
  const stdio: ('ignore' | 'pipe')[] = ['ignore', 'ignore', 'pipe'];
  const env = { ...programEnv(), ...unitEnv() };
  const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0', ...args], { env, stdio });
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const log = createWriteStream(logFile);
  const errors: string[] = [];
  const listening = Promise.withResolvers<string>();
  createInterface({ input: child.stderr! }).on('line', (line) => {
    log.write(`${line}\n`);
    const { level = ERROR_LEVEL, url } = parseLogLine(line);
    if (url !== undefined) listening.resolve(url);
    if (level >= ERROR_LEVEL && errors.length < ERRORS_TOLD_MAX) errors.push(line.slice(0, 1_000));
  });
  const failed = ended.then((how) => {
    throw new Error(`the service ended by itself (${how}); its log is ${logFile}`);
  });
  failed.catch(() => {});
  const url = await Promise.race([listening.promise, failed]);
  return {
    url,
    failed,
    residentMiB: () => residentMiB(child.pid!),
    status: async () => (await (await fetch(`${url}/status`)).json()) as ServiceStatus,
    errors: () => errors,
    async stop() {
      child.kill('SIGTERM');
      return await ended;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      log.end();
    },
  };
}

/** The environment that the service has as a unit of systemd. */
function unitEnv(): NodeJS.ProcessEnv {
  const line = /^Environment=(.*)$/m.exec(readFileSync(join(ROOT, 'deploy/holdfast.service'), 'utf8'))![1]!;
  return Object.fromEntries(line.split(' ').map((each) => each.split(/=(.*)/, 2)));
}

/** Runs another command to its end; its exit code, and what it printed. Progress goes to our standard error. */
export function runCommand(args: readonly string[]): { code: number | null; stdout: string } {
  const stdio: ('ignore' | 'pipe' | 'inherit')[] = ['ignore', 'pipe', 'inherit'];
  const { status, stdout } = spawnSync(process.execPath, [MAIN, ...args], {
    encoding: 'utf8',
    env: programEnv(),
    stdio,
  });
  return { code: status, stdout };
}

function parseLogLine(line: string): { readonly level?: number; readonly url?: string } {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

function residentMiB(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) / 1024;
}
