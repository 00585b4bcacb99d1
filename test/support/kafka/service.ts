import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Config, loadConfig } from '../../../src/config/load-config.ts';
import { startService } from '../../../src/service/start-service.ts';
import type { TemporaryDirectory } from '../program/temporary-directory.ts';
import { keepingLogger, type LogLine } from './reading.ts';
import type { TestTopic } from './topic.ts';

/** A service on a topic, in this process, as `serve` starts it. */
export interface RunningService extends AsyncDisposable {
  readonly log: readonly LogLine[];
  readyz(): Promise<{ status: number; ready: boolean; reasons: string[]; degraded: string[] }>;
  status(): Promise<Status>;
  get(path: string): Promise<Response>;
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  untilReady(): Promise<void>;
}

/** What tests read of `/status`. */
export interface Status {
  readonly phase: string;
  readonly source: {
    readonly position: Readonly<Record<string, number>>;
    readonly topic?: {
      readonly stopped: string | null;
      readonly lag_seconds: number | null;
      readonly newest_record_time: string | null;
      readonly partitions: readonly {
        partition: number;
        next_offset: number;
        end_offset: number | null;
        lag: number | null;
      }[];
    };
  } | null;
  readonly counts: Readonly<Record<string, number>> & { readonly ignored: Readonly<Record<string, number>> };
  readonly halted: {
    readonly kind: string;
    readonly dead_letter: number;
    readonly offset: number;
    readonly reason: string;
  } | null;
  readonly last_error: { readonly message: string } | null;
}

const WAIT_MAX_MS = 60_000;

/** The configuration of a command line, on any port. */
export function serviceConfig(options: Readonly<Record<string, unknown>>): Config {
  return loadConfig({ options: { port: '0', ...options }, env: {} }).config;
}

export async function serve(options: Readonly<Record<string, unknown>>): Promise<RunningService> {
  const logger = keepingLogger();
  const service = await startService(serviceConfig(options), { logger: logger as unknown as Logger });
  const get = (path: string): Promise<Response> => fetch(new URL(path, service.url));
  const status = async (): Promise<Status> => (await (await get('/status')).json()) as Status;
  const readyz: RunningService['readyz'] = async () => {
    const response = await get('/readyz');
    return {
      status: response.status,
      ...((await response.json()) as { ready: boolean; reasons: string[]; degraded: string[] }),
    };
  };

  async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + WAIT_MAX_MS;
    while (!(await holds())) {
      if (Date.now() > deadline) {
        throw new Error(`${what}: not so after ${WAIT_MAX_MS} ms; ${JSON.stringify([await status(), await readyz()])}`);
      }
      await sleep(20);
    }
  }

  return {
    log: logger.lines,
    get,
    status,
    readyz,
    until,
    untilReady: () => until('ready', async () => (await readyz()).ready),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** A service on a topic, with its views in a directory of the test. */
export function serveTopic(
  topic: TestTopic,
  directory: TemporaryDirectory,
  options: Readonly<Record<string, unknown>> = {},
): Promise<RunningService> {
  return serve({ data: directory.at('views'), kafkaBrokers: topic.address, kafkaTopic: topic.name, ...options });
}
