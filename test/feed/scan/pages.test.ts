import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type FakeScan, startFakeScan } from '../../../demo/local-scan.ts';
import type { Fault } from '../../../demo/local-server.ts';
import { LANE } from '../../../src/feed/network/snapshot-import.ts';
import { createScanClient } from '../../../src/feed/scan/scan-client.ts';
import { openScanSource } from '../../../src/feed/scan/scan-source.ts';
import type { Message } from '../../../src/feed/source.ts';
import { keepingLogger } from '../../support/kafka/reading.ts';
import { scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { operationsOf, readScan } from '../../support/scan/read-scan.ts';

const LINES = scanLedger(21, 120);
const says = (text: RegExp): unknown => expect.stringMatching(text);

let scan: FakeScan;
beforeEach(async () => {
  scan = await startFakeScan({ migrationId: 0 });
});
afterEach(() => scan[Symbol.asyncDispose]());

const sizesAsked = (): unknown[] =>
  scan.asked.filter(({ path }) => path === '/v2/updates').map(({ body }) => body.page_size);

/** Follows the Scan, to which the last updates are added once the ones before are read. */
async function expectFollowed(lines: readonly string[], settings: { pageSize?: number } = {}): Promise<void> {
  const before = lines.slice(0, -20);
  scan.add(...before);
  await using reading = await readScan([scan], settings);
  await reading.until({ lagSeconds: 0, updates: before.length });
  for (const line of lines.slice(-20)) scan.add(line);
  await reading.until({ stopped: null, lagSeconds: 0, updates: lines.length });
  expect([...reading.lines].sort()).toEqual([...lines].sort());
}

/** The same updates at times of one minute, a millisecond apart; those of equal times stay so. The first are earlier. */
function withinAMinute(lines: readonly string[]): string[] {
  let [count, last] = [0, ''];
  return lines.map((line) => {
    if (timeOf(line) !== last) count += 1;
    last = timeOf(line);
    const ms = `${20 + Math.floor(count / 1000)}.${String(count % 1000).padStart(3, '0')}000`;
    const hour = count < 10 ? '09' : '10';
    return line.replace(`"record_time":"${last}"`, `"record_time":"2025-02-01T${hour}:00:${ms}Z"`);
  });
}

/** So many updates of one record time, each with an id of its own. */
function atOneTime(count: number): string[] {
  const [first = ''] = scanLedger(5, 10);
  return Array.from({ length: count }, (_, i) =>
    first.replace(/"update_id":"[^"]*"/, `"update_id":"1220${i.toString(16).padStart(4, '0')}"`),
  );
}

describe('pages', () => {
  it('are as small as the Scan says, and as it can answer in time', async () => {
    scan.change({ pageSizeMax: 50, pageSizeInTime: 12 });
    await expectFollowed(LINES, { pageSize: 500 });
    expect(sizesAsked().slice(0, 5)).toEqual([500, 50, 25, 12, 12]);
  });

  it.each<[string, { pageCap?: number }, string[], number]>([
    ['that end between updates of one time, or are full of one time, lose none', {}, LINES, 1],
    ['go on over that minute where a proxy caps them', { pageCap: 500 }, withinAMinute(scanLedger(91, 1_500)), 1000],
    ['lose no update of two at one time where a proxy cuts between them', { pageCap: 3 }, scanLedger(93, 60), 20],
  ])('%s', async (_, holdings, lines, pageSize) => {
    scan.change(holdings);
    await expectFollowed(lines, { pageSize });
  });

  it('of one update each are no end: another update may have its time', async () => {
    scan.change({ pageCap: 1 });
    scan.add(...scanLedger(94, 40));
    await using reading = await readScan([scan]);
    await reading.until({ stopped: says(/^.* one record time/) });
  });

  it('are asked again for a minute at the end: an update that the Scan takes in late is read', async () => {
    const late = LINES.findIndex((line, i) => i > 90 && line.includes('zweite::1220ee'));
    scan.add(...LINES.slice(0, late), ...LINES.slice(late + 1, late + 2));
    await using reading = await readScan([scan]);
    await reading.until({ lagSeconds: 0, updates: late + 1 });
    const [given, moved] = [LINES[late]!, timeOf(LINES[late + 1]!).replace(/\d{3}Z$/, '000Z')];
    scan.add(given.replace(timeOf(given), moved));
    await reading.until({ updates: late + 2 });
  });

  it.each([
    ['more items than were asked for', `{"transactions":[${'1,'.repeat(1_000_000)}1]}`],
    ['much beside their updates', `{"transactions":[],"x":"${'x'.repeat(100_000)}"}`],
  ])('with %s are a failure of that Scan', async (_, body) => {
    scan.fail('/v2/updates', { status: 200, body: Buffer.from(body) });
    await using reading = await readScan([scan]);
    await reading.until({ stopped: says(/^cannot read the network: .*: answers with/) });
  });

  it('with an item of more than 16 MiB are one too', async () => {
    const item = `{"update_id":"u","x":[${'[],'.repeat(6 * 2 ** 20)}0]}`;
    scan.fail('/v2/updates', { status: 200, body: Buffer.from(`{"transactions":[${item}]}`) } satisfies Fault);
    await using other = await startFakeScan({ migrationId: 0, lines: LINES });
    await using reading = await readScan([scan, other]);
    await reading.until({ stopped: null, lagSeconds: 0 });
    const because = says(new RegExp(`an item of ${item.length} bytes, which is more`));
    await reading.until({ network: { scans_left: { [operationsOf(scan)]: { because } } } });
  });
});

describe('pages that are full of one time', () => {
  it('where a larger one takes too long, are asked for with longer and longer pauses', async () => {
    scan.change({ pageSizeInTime: 15 });
    scan.add(...atOneTime(30));
    await using reading = await readScan([scan], { pageSize: 10 });
    await expect.poll(() => reading.telemetry.network.errors_in_a_row).toBeGreaterThanOrEqual(3);
    expect(sizesAsked().slice(0, 5)).toEqual([10, 10, 20, 20, 20]);
    expect(new Set(sizesAsked().slice(5))).not.toContain(10);
  });

  it('of a Scan that gives no larger ones are refused', async () => {
    scan.change({ pageSizeMax: 12 });
    scan.add(...atOneTime(30));
    await using reading = await readScan([scan], { pageSize: 12 });
    expect(await reading.refusal()).toMatch(/of 12 updates that all have one record time.*limit maximum \(24 > 12\)/);
  });
});

describe('the end of a network', () => {
  function open(pageSize: number, pollIntervalMs = 10): ReturnType<typeof openScanSource> {
    const times = { pollIntervalMs, readyLagMaxMs: 60_000 };
    return openScanSource(
      { urls: [operationsOf(scan)], pageSize, ca: null, start: 'beginning', ...times },
      {
        ...{ stored: { identity: null, lanes: new Map() }, reached: null, furthest: null },
        ...{ directoryId: '', migrationId: 0, logger: keepingLogger() },
      },
    );
  }

  it('is reached when its page was asked for, however much later that is used', async () => {
    const source = open(40, 3_600_000);
    const stop = new AbortController();
    const batches = source.batches(stop.signal)[Symbol.asyncIterator]();
    scan.add(...LINES.slice(0, 40));
    await batches.next();
    const first: readonly Message[] = (await batches.next()).value;
    await expect.poll(() => sizesAsked().length).toBe(2);
    source.stored!(new Map([[LANE, first.at(-1)!.resumeToken!]]));
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
    scan.add(...LINES.slice(0, 40));
    await batches.next();
    scan.add(...LINES.slice(40, 60));
    const last: readonly Message[] = (await batches.next()).value;
    expect(source.telemetry!().caughtUpAt).toBeNull();
    source.stored!(new Map([[LANE, last.at(-1)!.resumeToken!]]));
    expect(source.telemetry!().caughtUpAt).not.toBeNull();
    stop.abort();
    await batches.return!();
  });

  it('is not reached by bad updates, which move no position: after an answer that fails, all is asked for again', async () => {
    const bad = JSON.stringify({ ...(JSON.parse(LINES[9]!) as object), update_id: 'u', root_event_ids: ['u:7'] });
    scan.add(bad.replace(timeOf(bad), '2025-12-31T00:00:00.000000Z'));
    await using reading = await readScan([scan], { pageSize: 10 });
    await reading.until({ updates: 1 });
    scan.fail('/v2/updates', { status: 503, body: { error: 'soon' } }, 2);
    scan.add(...LINES);
    await reading.until({ updates: 1 + LINES.length });
  });
});

describe('an answer', () => {
  it('is bounded in bytes and in time', async () => {
    const { signal } = new AbortController();
    const url = operationsOf(scan);
    using bytes = createScanClient(url, { ca: null, signal, answerBytesMax: 100_000 });
    using time = createScanClient(url, { ca: null, signal, answerTimeoutMs: 300 });
    scan.fail('/v0/endless', 'endless');
    await expect(bytes.ask('/v0/endless', z.unknown())).rejects.toThrow(/answers with more than 100000 bytes$/);
    using parsed = createScanClient(url, { ca: null, signal });
    await expect(parsed.ask('/v0/endless', z.unknown())).rejects.toThrow(/answers with more than 1048576 bytes$/);
    scan.fail('/v0/silent', 'silent');
    await expect(time.ask('/v0/silent', z.unknown())).rejects.toThrow(/has not answered within 0.3 s$/);
  });
});
