import type { Logger } from 'pino';
import { expect } from 'vitest';
import { startService } from '../../../src/service.ts';
import { keepingLogger, type LogLine } from '../kafka/reading.ts';
import { serviceConfig } from '../kafka/service.ts';

/** A service on a network, in this process. */
export interface Serving extends AsyncDisposable {
  readonly log: readonly LogLine[];
  get(path: string): Promise<Record<string, unknown>>;
  text(path: string): Promise<string>;
  /** Polled until the result is as wanted. */
  until(path: string, wanted: object): Promise<void>;
}

const POLLED_MS = 30_000;

export async function serveScan(options: Readonly<Record<string, unknown>>): Promise<Serving> {
  const logger = keepingLogger();
  const config = serviceConfig({ scanPollInterval: '100ms', ...options });
  const service = await startService(config, { logger: logger as unknown as Logger });
  const get = async (path: string): Promise<Record<string, unknown>> =>
    (await (await fetch(new URL(path, service.url))).json()) as Record<string, unknown>;
  const text = async (path: string): Promise<string> => (await fetch(new URL(path, service.url))).text();
  return {
    text,
    log: logger.lines,
    get,
    until: (path, wanted) => expect.poll(() => get(path), { timeout: POLLED_MS }).toMatchObject(wanted),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
