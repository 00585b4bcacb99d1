import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LANE } from '../../../src/feed/network/snapshot-import.ts';
import { openScanSource } from '../../../src/feed/scan/scan-source.ts';
import type { Message } from '../../../src/feed/source.ts';
import { serveScan } from '../../support/feed/serve.ts';
import { keepingLogger } from '../../support/kafka/reading.ts';
import { holdfast } from '../../support/program/command.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { freshScan } from '../../support/scan/fresh-scan.ts';
import { DSO, scanLedger } from '../../support/scan/ledger.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const directory = freshDirectory();
const scan = freshScan({ migrationId: 0 });
const data = (): string => directory.at('data');

/** A ledger, and the views of it read from a file. */
async function ledger(
  seed: number,
  change: (line: string, i: number) => string = (line) => line,
): Promise<{ lines: readonly string[]; wanted: ReturnType<typeof dumpViews> }> {
  const lines = scanLedger(seed, 400).map(change);
  await replayInto(directory.at('wanted'), [directory.writeLines('feed.ndjson', lines)], { dso: DSO });
  return { lines, wanted: dumpViews(directory.at('wanted')) };
}

describe('serve --scan --start beginning', () => {
  it.each([1, 2, 3])('builds the views of the same feed read from a file (seed %i)', async (seed) => {
    const { lines, wanted } = await ledger(seed);
    scan.add(...lines.slice(0, 250));
    {
      await using service = await serveScan({ data: data(), scan: scan.url, start: 'beginning', scanPageSize: '7' });
      await service.until('/readyz', { ready: true, reasons: [], degraded: [] });
      scan.add(...lines.slice(250, 350));
      await service.until('/status', { source: { network: { lag_seconds: 0 } }, counts: { updates: 350 } });
    }
    scan.add(...lines.slice(350));
    await using service = await serveScan({ data: data(), scan: scan.url, scanPageSize: '7' });
    await service.until('/status', { counts: { updates: lines.length - 350 }, dso: DSO, dso_pinned: true });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(wanted);
    expect((await holdfast('verify', '--data', data())).stdout).toMatch(/^equal: /);
  });
});

describe('the next page', () => {
  it('is asked for by the time that stands last in a page, and again where that is not of its last update', async () => {
    const times = ['2025-12-31T00:00:00Z', '1970-01-01T00:00:00Z', 'never'];
    const noted = (line: string, i: number): string =>
      line.replace(/}$/, i % 3 === 0 ? `,"note":{"record_time":"${times[(i / 3) % 3]}"}}` : '}');
    const { lines, wanted } = await ledger(8, noted);
    scan.add(...lines);
    await using service = await serveScan({ data: data(), scan: scan.url, start: 'beginning', scanPageSize: '7' });
    await service.until('/status', { source: { network: { lag_seconds: 0 } }, counts: { updates: lines.length } });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(wanted);
    const after = scan.asked.map(
      ({ body }) => (body.after as { after_record_time: string } | undefined)?.after_record_time,
    );
    expect(after).toContain('2025-12-30T23:59:59.999999Z');
  });
});

describe('the end of a network', () => {
  const lines = scanLedger(4, 60);

  function open(pageSize: number, pollIntervalMs = 10): ReturnType<typeof openScanSource> {
    const urls = [`${scan.url}/api/scan`];
    const settings = {
      urls,
      pageSize,
      pollIntervalMs,
      readyLagMaxMs: 60_000,
      ca: null,
      start: 'beginning',
    } as const;
    const stored = { identity: null, lanes: new Map() };
    const context = { stored, reached: null, furthest: null, directoryId: '', migrationId: 0, logger: keepingLogger() };
    return openScanSource(settings, context);
  }

  it('is reached when its page was asked for, however much later that is used', async () => {
    const source = open(40, 3_600_000);
    const stop = new AbortController();
    const batches = source.batches(stop.signal)[Symbol.asyncIterator]();
    scan.add(...lines.slice(0, 40));
    await batches.next();
    const first: readonly Message[] = (await batches.next()).value;
    await expect.poll(() => scan.asked.filter(({ path }) => path === '/v2/updates').length).toBe(2);
    source.stored!(new Map([[LANE, first.at(-1)!.cursor!]]));
    const before = Date.now();
    await sleep(20);
    const rest = batches.next();
    await expect.poll(() => source.telemetry!().caughtUpAt).not.toBeNull();
    expect(source.telemetry!().caughtUpAt).toBeLessThanOrEqual(before);
    stop.abort();
    await rest;
  });

  it('is reached where one commit stores more than what was its end', async () => {
    const source = open(100);
    const stop = new AbortController();
    const batches = source.batches(stop.signal)[Symbol.asyncIterator]();
    await batches.next();
    scan.add(...lines.slice(0, 40));
    await batches.next();
    scan.add(...lines.slice(40));
    const last: readonly Message[] = (await batches.next()).value;
    expect(source.telemetry!().caughtUpAt).toBeNull();
    source.stored!(new Map([[LANE, last.at(-1)!.cursor!]]));
    expect(source.telemetry!().caughtUpAt).not.toBeNull();
    stop.abort();
    await batches.return!();
  });

  it('is reached where it has no update yet', async () => {
    await using service = await serveScan({ data: data(), scan: scan.url, start: 'beginning' });
    await service.until('/status', { source: { network: { caught_up_at: expect.any(String) } } });
  });
});
