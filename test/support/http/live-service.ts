import { pino } from 'pino';
import { startService } from '../../../src/service/start-service.ts';
import { serviceConfig } from '../kafka/service.ts';
import { writePollingKind } from '../polling/write-polling-kind.ts';
import type { TemporaryDirectory } from '../program/temporary-directory.ts';
import { type FakeScan, startFakeScan } from '../scan/server.ts';

/** A service in this process whose source has no end, and where more may come at any time. */
export interface LiveService extends AsyncDisposable {
  readonly url: string;
  readonly network: FakeScan;
  get(path: string): Promise<Readonly<Record<string, unknown>>>;
  /** Resolves when that many updates are applied, since it started, and no more are there. */
  untilApplied(updates: number): Promise<void>;
}

const POLL_MS = 20;

export async function startLiveService(
  directory: TemporaryDirectory,
  { lines = [], ...options }: Readonly<Record<string, unknown>> & { readonly lines?: readonly string[] } = {},
): Promise<LiveService> {
  await using parts = new AsyncDisposableStack();
  const network = parts.use(await startFakeScan());
  network.add(...lines);
  const settings = { url: network.url, pageSize: 2 };
  const service = parts.use(
    await startService(serviceConfig({ data: directory.at('data'), ...options }), {
      logger: pino({ level: 'silent' }),
      sources: [{ kind: writePollingKind(directory), name: 'network', settings }],
    }),
  );
  const get: LiveService['get'] = async (path) => {
    return (await (await fetch(new URL(path, service.url))).json()) as Record<string, unknown>;
  };
  const started = parts.move();
  return {
    url: service.url,
    network,
    get,
    async untilApplied(updates) {
      for (;;) {
        const { counts } = (await get('/status')) as { counts: { updates: number } };
        const { ready } = (await get('/readyz')) as { ready: boolean };
        if (counts.updates >= updates && ready) return;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
