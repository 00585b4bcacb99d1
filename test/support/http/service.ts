import { setTimeout as sleep } from 'node:timers/promises';
import { type Circumstances, type Program, startProgram } from '../program/program.ts';

/** A running `serve` on a port of its own, and how to ask it. */
export interface Service extends AsyncDisposable {
  readonly program: Program;
  readonly url: string;
  ask(path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Waits until the answer of a GET is as wanted; a service that ends first fails the test. */
  until(path: string, wanted: (status: number, body: unknown) => boolean): Promise<unknown>;
}

const POLL_MS = 20;

export async function startService(args: readonly string[], circumstances: Circumstances = {}): Promise<Service> {
  const program = startProgram(['serve', '--port', '0', ...args], circumstances);
  const { url } = await program.logged('listening');
  const ask: Service['ask'] = async (path, body) => {
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${String(url)}${path}`, body === undefined ? {} : post);
    return { status: response.status, body: await response.json() };
  };
  return {
    program,
    url: String(url),
    ask,
    async until(path, wanted) {
      for (;;) {
        const { status, body } = await ask(path);
        if (wanted(status, body)) return body;
        await sleep(POLL_MS);
      }
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}
