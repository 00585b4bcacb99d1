import { describe, expect, it } from 'vitest';
import { type Serving, serveScan } from '../../support/feed/serve.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { freshScan } from '../../support/scan/fresh-scan.ts';
import { DSO, scanLedger, timeOf } from '../../support/scan/ledger.ts';
import type { FakeScan, Fault } from '../../support/scan/server.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const LINES = scanLedger(81, 120);
const SOME = 70;
const directory = freshDirectory();
const first = freshScan({ migrationId: 0, lines: LINES });
const second = freshScan({ migrationId: 0, lines: LINES, firstRow: 5 });

/** No Scan is left for being behind. */
const PATIENT = { readyLagMax: '36500d' };
const BUSY: Fault = { status: 429, body: 'Too Many Requests', headers: { 'retry-after': '600' } };
/** The others are asked once a minute. */
const MINUTES = { timeout: 200_000 };

const serve = (more: object = {}): Promise<Serving> => {
  const scan = `${first.url},${second.url}`;
  return serveScan({ data: directory.at('data'), scan, start: 'beginning', ...more });
};
const operations = ({ url }: FakeScan): string => `${url}/api/scan`;
const countOf = ({ asked }: FakeScan, path: string): number => asked.filter((each) => each.path === path).length;

/** The Scan takes in nothing more: it answers 200 with what it has. */
function hangAfter(scan: FakeScan, updates: number): void {
  scan.lines.splice(updates);
}

/** All was read, and the views are those of the same updates read from a file. */
async function expectAll(service: Serving): Promise<void> {
  await service.until('/readyz', { ready: true });
  await service[Symbol.asyncDispose]();
  await replayInto(directory.at('wanted'), [directory.writeLines('feed.ndjson', LINES)], { dso: DSO });
  expect(dumpViews(directory.at('data'))).toEqual(dumpViews(directory.at('wanted')));
}

describe('a pause belongs to one Scan', () => {
  it('the second is read while the first asks to be left alone for ten minutes', async () => {
    first.fail('/v2/updates', BUSY);
    await using service = await serve();
    await service.until('/status', { source: { network: { scan: operations(second) } } });
    const because = expect.stringMatching(/answers 429 \(Too Many Requests\)/);
    await service.until('/status', { source: { network: { scans_left: { [operations(first)]: { because } } } } });
    await expectAll(service);
    const left = service.log.find(({ message }) => message.startsWith('another Scan is read'));
    const why = `${operations(first)}/v2/updates: answers 429 (Too Many Requests)`;
    expect(left).toEqual({ level: 'warn', message: `another Scan is read in place of ${operations(first)}: ${why}` });
    expect(service.log.map(({ message }) => message)).toContain(`reading the Scan at ${operations(second)}`);
    expect(countOf(first, '/v2/updates')).toBe(1);
  });

  it('where all have failed, the one with the shortest pause is asked again', async () => {
    first.fail('/v2/updates', BUSY);
    second.fail('/v2/updates', 'closed', 2);
    await using service = await serve();
    await expectAll(service);
    expect(countOf(first, '/v2/updates')).toBe(1);
    expect(countOf(second, '/v0/dso-party-id')).toBeGreaterThan(2);
  });

  it('in the middle of a snapshot import too', async () => {
    for (const scan of [first, second]) scan.change({ snapshots: [timeOf(LINES[50]!)] });
    first.fail('/v1/holdings/summary', BUSY);
    await using service = await serve({ start: 'snapshot' });
    await service.until('/readyz', { ready: true });
    await service.until('/status', { source: { network: { scan: operations(second) } } });
  });
});

describe('a Scan that takes in nothing more', () => {
  it('is left at the start for one that has more', async () => {
    hangAfter(first, SOME);
    await using service = await serve();
    await service.until('/status', { counts: { updates: LINES.length } });
    const because = expect.stringMatching(/shows no update after 0 .*, and .* has one of /);
    await service.until('/status', {
      source: {
        network: { scan: operations(second), scans_left: { [operations(first)]: { because } } },
      },
    });
    await expectAll(service);
  });

  it('is left later, and readiness does not say caught up on its word', { timeout: 200_000 }, async () => {
    hangAfter(first, SOME);
    hangAfter(second, SOME);
    await using service = await serve();
    await service.until('/readyz', { ready: true });
    second.add(...LINES.slice(SOME));
    const updates = async (): Promise<unknown> => (await service.get('/status')).counts;
    await expect.poll(updates, MINUTES).toMatchObject({ updates: LINES.length });
    await expectAll(service);
  });

  it('is not believed to be at its end meanwhile, until it has what the other has', async () => {
    hangAfter(first, SOME);
    await using service = await serve(PATIENT);
    const says = new RegExp(`^${operations(first)} shows no update after .*, and ${operations(second)} has one of `);
    await service.until('/readyz', { ready: false, reasons: expect.arrayContaining([expect.stringMatching(says)]) });
    const network = { scan: operations(first), caught_up_at: null, lag_seconds: expect.any(Number) };
    await service.until('/status', { counts: { updates: SOME }, source: { network } });
    expect(await service.get('/status')).not.toMatchObject({ source: { network: { lag_seconds: 0 } } });
    first.add(...LINES.slice(SOME));
    await expectAll(service);
    expect(countOf(second, '/v0/dso-party-id')).toBe(0);
  });

  it('is believed where the others do not answer', async () => {
    second.fail('/', 'closed');
    await using service = await serve();
    await expectAll(service);
  });

  it('is not at its end where another has shown more before', async () => {
    hangAfter(second, SOME);
    await using service = await serve(PATIENT);
    await service.until('/readyz', { ready: true });
    first.fail('/', 'closed');
    const { caught_up_at: before } = await networkOf(service);
    await service.until('/status', { source: { network: { scan: operations(second), errors_in_a_row: 0 } } });
    const says = /^http\S+ shows no update after .*, and one of .* was read$/;
    await service.until('/status', { source: { network: { contradiction: expect.stringMatching(says) } } });
    const later = await networkOf(service);
    expect(Date.parse(later.caught_up_at!) - Date.parse(before!)).toBeLessThan(10_000);
    expect(later.lag_seconds).not.toBe(0);
    second.add(...LINES.slice(SOME));
    await service.until('/status', { source: { network: { contradiction: null, lag_seconds: 0 } } });
    await expectAll(service);
  });

  it('is not at its end where it has less than was applied before a restart', async () => {
    {
      await using service = await serve(PATIENT);
      await service.until('/readyz', { ready: true });
    }
    hangAfter(first, SOME);
    second.fail('/', 'closed');
    await using service = await serve(PATIENT);
    const says = /^http\S+ shows no update after .*, and one of .* was read$/;
    await service.until('/readyz', { ready: false, reasons: expect.arrayContaining([expect.stringMatching(says)]) });
    first.add(...LINES.slice(SOME));
    await expectAll(service);
  });
});

describe('a Scan that takes in updates while it is read', () => {
  it('is read on, also where the answer asked for meanwhile is older than its newest update', async () => {
    hangAfter(first, SOME);
    first.change({ pageSizeMax: 500 });
    second.fail('/', 'closed');
    await using service = await serve();
    await service.until('/readyz', { ready: true });
    for (const line of LINES.slice(SOME)) {
      first.add(line);
      const asked = first.asked.length;
      await expect.poll(() => first.asked.length, { interval: 1 }).toBeGreaterThan(asked);
    }
    // It was ready before these came.
    await service.until('/status', { counts: { updates: LINES.length } });
    await expectAll(service);
    expect(service.log.filter(({ message }) => message.includes('not asked again'))).toEqual([]);
  });
});

async function networkOf(service: Serving): Promise<{ caught_up_at: string | null; lag_seconds: number | null }> {
  const { source } = (await service.get('/status')) as { source: { network: never } };
  return source.network;
}
