import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { programEnv } from '../program/soak.ts';
import type { Status } from './service.ts';

/** A consumer in a process of its own. */
export interface ConsumerProcess {
  status(): Promise<Status>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Resolves when it is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
}

/** Resolves when it serves. Dies with this process. */
export async function startConsumer(options: Readonly<Record<string, unknown>>): Promise<ConsumerProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'consumer.ts'), JSON.stringify(options)], {
    env: programEnv(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const dieToo = (): void => void child.kill('SIGKILL');
  process.once('exit', dieToo);
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const url = await addressOf(child);
  return {
    status: async () => (await (await fetch(new URL('/status', url))).json()) as Status,
    signal: (signal) => void child.kill(signal),
    async end(signal) {
      child.kill(signal);
      const code = await exited;
      process.off('exit', dieToo);
      return code;
    },
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  let errors = '';
  child.stderr!.on('data', (bytes) => {
    errors += String(bytes);
  });
  return new Promise((resolve, reject) => {
    child.stdout!.once('data', (bytes) => resolve(String(bytes).trim()));
    child.once('exit', (code) => reject(new Error(`the consumer ended with ${code} before it served: ${errors}`)));
  });
}
