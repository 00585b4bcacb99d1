import type { Logger } from 'pino';
import { expect } from 'vitest';
import type { SourceSpec } from '../../../src/feed/source.ts';
import { startService } from '../../../src/service/start-service.ts';
import { keepingLogger, type LogLine } from '../kafka/reading.ts';
import { serviceConfig } from '../kafka/service.ts';

/** A service in this process, asked over HTTP. */
export interface Serving extends AsyncDisposable {
  readonly log: readonly LogLine[];
  get(path: string): Promise<Record<string, unknown>>;
  text(path: string): Promise<string>;
  /** The status and the JSON answered. */
  post(path: string, body: object): Promise<[number, unknown]>;
  /** Polled until the result is as wanted. */
  until(path: string, wanted: object): Promise<void>;
}

/** A service that reads what its options say, or other sources. */
export async function serveSources(
  options: Readonly<Record<string, unknown>>,
  sources?: readonly SourceSpec[],
): Promise<Serving> {
  const logger = keepingLogger();
  const service = await startService(serviceConfig(options), {
    logger: logger as unknown as Logger,
    ...(sources && { sources }),
  });
  const text = async (path: string): Promise<string> => (await fetch(new URL(path, service.url))).text();
  const get = async (path: string): Promise<Record<string, unknown>> =>
    JSON.parse(await text(path)) as Record<string, unknown>;
  return {
    log: logger.lines,
    text,
    get,
    async post(path, body) {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(new URL(path, service.url), { method: 'POST', headers, body: JSON.stringify(body) });
      return [response.status, await response.json()];
    },
    until: (path, wanted) => expect.poll(() => get(path)).toMatchObject(wanted),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** A service on a network. */
export function serveScan(options: Readonly<Record<string, unknown>>): Promise<Serving> {
  return serveSources({ scanPollInterval: '100ms', ...options });
}
