import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { programEnv } from './soak.ts';

export const MAIN = join(import.meta.dirname, '../../../dist/main.js');

/** How a process ended, and all it said. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of the real program. Killed with its owner where it still runs. */
export interface Program extends AsyncDisposable {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
  /** What it has printed until now. */
  stdout(): string;
  stderr(): string;
  /** The first log line with that message, as it is on standard error now or later; rejects where the process ends without it. */
  logged(message: string): Promise<Record<string, unknown>>;
}

/** What of the machine is out of the ordinary for a process. */
export interface Circumstances {
  /** Limits that a shell sets before it becomes the program, such as `ulimit -n 20`. */
  readonly limits?: string;
  /** Who runs it, where the test may choose that. */
  readonly uid?: number;
  /** A module that every thread of it loads first. */
  readonly preload?: string;
  /** Settings of the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Has the program close an epoch of views.db after so many events. */
export function preloadSmallEpochs(events: number): string {
  return `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        const loaded = next(url, context);
        if (!url.endsWith('/views/write/epochs.js')) return loaded;
        const source = String(loaded.source).replace(/EPOCH_EVENTS = [\\d_]+/, 'EPOCH_EVENTS = ${events}');
        if (source === String(loaded.source)) throw new Error('epochs.js does not say EPOCH_EVENTS');
        return { ...loaded, source };
      },
    });
  `)}`;
}

export function startProgram(args: readonly string[], { limits, uid, preload, env }: Circumstances = {}): Program {
  const node = [process.execPath, ...(preload === undefined ? [] : ['--import', preload]), MAIN, ...args];
  const [command = '', ...rest] = limits === undefined ? node : ['sh', '-c', `${limits}; exec "$@"`, 'sh', ...node];
  const child = spawn(command, rest, {
    env: { ...programEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid && { uid }),
  });
  const stdout = collect(child, 'stdout');
  const stderr = collect(child, 'stderr');
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout: stdout.text(), stderr: stderr.text() }));
  });
  return {
    pid: child.pid!,
    ended,
    kill: (signal) => void child.kill(signal),
    stdout: () => stdout.text(),
    stderr: () => stderr.text(),
    async logged(message) {
      for (let over = false; ; ) {
        // The last one may not be whole yet.
        const lines = stderr.text().split('\n').slice(0, -1);
        const line = lines.find((text) => text.includes(`"msg":${JSON.stringify(message)}`));
        if (line !== undefined) return JSON.parse(line) as Record<string, unknown>;
        if (over) throw new Error(`the program ended without logging "${message}":\n${stderr.text()}`);
        over = await Promise.race([stderr.more().then(() => false), ended.then(() => true)]);
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Runs the program to its end. */
export async function runProgram(args: readonly string[], circumstances: Circumstances = {}): Promise<Ended> {
  await using program = startProgram(args, circumstances);
  return await program.ended;
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr'): { text(): string; more(): Promise<void> } {
  let text = '';
  let change = Promise.withResolvers<void>();
  child[name]!.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    change.resolve();
    change = Promise.withResolvers();
  });
  return { text: () => text, more: () => change.promise };
}
