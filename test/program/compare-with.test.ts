import { createServer } from 'node:net';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { ReplayOptions } from '../../src/ingest/replay-files.ts';
import { type Service, startService } from '../../src/service/start-service.ts';
import { type Service as Process, startService as startProcess } from '../support/http/service.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { freePorts } from '../support/program/free-ports.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

/** 2,400 snapshots: more than a page of digests. */
const PERIOD = { snapshotPeriodUs: 1_000_000 } as const;
const LEDGER = '00:01 =a : +a alice 10\n00:11 =b : +b bob 5\n00:21 =c : -a\n00:31 =d : +c carol 1\n00:41 =e :';
const OTHER = LEDGER.replace('carol 1', 'carol 2');
const LATER = LEDGER.replace('00:01 =a', 'import').replace('alice 10', 'alice 10 at 00:01');
const EARLY = LEDGER.split('\n').slice(0, 3).join('\n');

const directory = freshDirectory();

function feed(name: string, ledger: string): string {
  return directory.writeLines(`${name}.ndjson`, linesOf(parseLedger(ledger), 'scan'));
}

async function replayed(name: string, ledger: string, options: Partial<ReplayOptions> = {}): Promise<string> {
  const { halted } = await replayInto(directory.at(name), [feed(name, ledger)], { ...PERIOD, ...options });
  expect(halted).toBeNull();
  return directory.at(name);
}

/** Serves a directory that others may write, in this process. */
async function peer(
  name: string,
  ledger: string,
  { compareWith, ...options }: Partial<ReplayOptions> & { compareWith?: string } = {},
): Promise<Service> {
  const data = await replayed(name, ledger, options);
  const { config } = loadConfig({ options: { data, readOnly: true, port: '0', compareWith }, env: {} });
  return startService(config, { logger: pino({ level: 'silent' }) });
}

/** The values of a metric by peer. */
async function measured({ url }: { readonly url: string }, metric: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const samples = text.matchAll(new RegExp(`^${metric}\\{peer="([^"]*)"\\} (.*)$`, 'gm'));
  return Object.fromEntries([...samples].map(([, name, value]) => [name, Number(value)]));
}

async function degraded({ url }: { readonly url: string }): Promise<string[]> {
  return ((await (await fetch(`${url}/readyz`)).json()) as { degraded: string[] }).degraded;
}

describe('serve --compare-with', () => {
  it('names the peers that differ, and neither one that is behind nor one that does not answer', async () => {
    await using equal = await peer('equal', LEDGER);
    await using different = await peer('different', OTHER);
    await using later = await peer('later', LATER);
    await using behind = await peer('behind', EARLY);
    await using otherPeriod = await peer('other-period', LEDGER, { snapshotPeriodUs: 600_000_000 });
    await using otherDso = await peer('other-dso', LEDGER, { dso: 'OTHER::1220ab' });
    const silent = createServer().listen(0, '127.0.0.1');
    const [closedPort] = await freePorts(1);
    const { port: silentPort } = silent.address() as { port: number };
    const away = [silentPort, closedPort].map((port) => `http://127.0.0.1:${port}`);
    const answering = [equal, different, later, behind, otherPeriod, otherDso].map(({ url }) => url);
    const peers = ['--compare-with', [...answering, ...away].join(',')];
    const file = feed('own', LEDGER);
    await using own: Process = await startProcess([
      '--data',
      directory.at('own'),
      '--snapshot-period',
      '1s',
      '--file',
      file,
      ...peers,
    ]);

    const differing = [
      `${different.url}: migration 0 has different digests, first at 2025-02-12T00:31:00Z`,
      `${otherPeriod.url}: migration 0 has other snapshot period: 1s here, 10m there`,
      `${otherDso.url}: migration 0 has other DSO: DSO::1220ab here, OTHER::1220ab there`,
    ];
    await expect.poll(() => degraded(own)).toEqual(differing);
    expect((await own.ask('/readyz')).status).toBe(200);
    expect(await measured(own, 'holdfast_compare_different')).toEqual({
      ...Object.fromEntries([...answering, ...away].map((url) => [url, 0])),
      ...Object.fromEntries([different, otherPeriod, otherDso].map(({ url }) => [url, 1])),
    });
    const compared = [equal, different, later, behind].map(({ url }) => url).sort();
    const atLeastOnce = async (): Promise<string[]> => {
      const times = await measured(own, 'holdfast_compare_timestamp_seconds');
      return Object.keys(times).filter((url) => times[url] !== 0);
    };
    await expect.poll(async () => (await atLeastOnce()).sort()).toEqual(compared);

    // What it has caught up with is compared too: here with another one.
    await replayInto(directory.at('behind'), [feed('more', OTHER)], PERIOD);
    await expect.poll(() => degraded(own)).toHaveLength(4);
    expect((await degraded(own))[1]).toBe(
      `${behind.url}: migration 0 has different digests, first at 2025-02-12T00:31:00Z`,
    );

    own.program.kill('SIGTERM');
    expect(await own.program.ended).toMatchObject({ code: 0 });
    silent.close();
  });

  it('compares what is sealed later, also of a process that only reads', async () => {
    await using other = await peer('other', EARLY);
    await using own = await peer('own', EARLY, { compareWith: other.url });
    const times = () => measured(own, 'holdfast_compare_timestamp_seconds');
    await expect.poll(times).not.toEqual({ [other.url]: 0 });
    expect(await degraded(own)).toEqual([]);
    await replayInto(directory.at('other'), [feed('more', OTHER)], PERIOD);
    await replayInto(directory.at('own'), [feed('own', LEDGER)], PERIOD);
    await expect
      .poll(() => degraded(own))
      .toEqual([`${other.url}: migration 0 has different digests, first at 2025-02-12T00:31:00Z`]);
  });

  it('refuses an address that is none, and repeats no password', async () => {
    const refused = await holdfast('serve', '--data', directory.at('own'), '--compare-with', 'https://a:secret@b');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--compare-with') });
    expect(refused.stderr).not.toContain('secret');
  });
});
