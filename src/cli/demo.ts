import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../config/load-config.ts';
import type { CliCommand } from './command.ts';

/** A Scan on this machine, of a ledger that goes on. */
interface DemoScan extends AsyncDisposable {
  readonly url: string;
  readonly updates: number;
}

/** As it is built, and as it is in a checkout. `src` does not import it, because tests use it too. */
const MODULES = ['../demo/demo/demo-scan.js', '../../demo/demo-scan.ts'];
const LOOK_MS = 100;

export const demoCommand: CliCommand = {
  usage: 'demo',
  summary: 'Follow a Scan on this machine: three weeks of a small ledger that goes on, until Ctrl-C',
  examples: ['holdfast demo'],
  settings: ['port'],
  dataDir: 'unused',
  run: async ({ config: { port }, terminal: { stdout }, logger }) => {
    const stopping = new AbortController();
    const stop = stopping.signal;
    // Whatever is sent again changes nothing: npm passes on the Ctrl-C that a terminal has sent already.
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stopping.abort());
    const say = (...lines: readonly string[]): void => void stdout.write(`${lines.join('\n')}\n`);
    await using parts = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
    // However the process ends: the first line that a closed terminal does not take ends it at once.
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    const scan = parts.use(await startScan());
    say(`A Scan on this machine: ${scan.updates} updates of three weeks, and more as you look.`);
    const options = {
      data: join(folder, 'data'),
      ...{ port: String((await isFree(port)) ? port : 0), scan: scan.url, scanPollInterval: '1s' },
      ...{ start: 'beginning', snapshotPeriod: '10s', logLevel: 'warn' },
    };
    const { startService } = await import('../service/start-service.ts');
    const { config } = loadConfig({ options, env: {} });
    logger.level = 'warn';
    const { url, failed } = parts.use(await startService(config, { logger }));
    const begun = performance.now();
    while (!stop.aborted && !(await fetch(`${url}/readyz`)).ok) await sleep(LOOK_MS);
    if (stop.aborted) return;
    say(
      `Holdfast has applied them in ${Math.round((performance.now() - begun) / 100) / 10} s, and seals a snapshot every 10 s.`,
      '',
      `  Dashboard  ${url}/`,
      `  API        ${url}/docs`,
      '',
      `Try:  curl '${url}/holdfast/v1/top?limit=3'`,
      'A network:  holdfast serve --scan https://scan.sv-1.example',
      'Ctrl-C ends it and removes what it wrote.',
    );
    const stopped = new Promise<void>((resolve) => {
      stop.addEventListener('abort', () => resolve());
    });
    await Promise.race([stopped, failed]);
  },
};

async function startScan(): Promise<DemoScan> {
  const found = MODULES.map((name) => new URL(name, import.meta.url)).find((url) => existsSync(url));
  if (found === undefined) throw new Error('the demo is not built: run `npm run build`');
  const { startDemoScan } = (await import(found.href)) as { startDemoScan: () => Promise<DemoScan> };
  return await startDemoScan();
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
