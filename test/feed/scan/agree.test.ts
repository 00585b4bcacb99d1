import { describe, expect, it } from 'vitest';
import { type Serving, serveScan } from '../../support/feed/serve.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { freshScan } from '../../support/scan/fresh-scan.ts';
import { DSO, scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const LINES = scanLedger(51, 200);
const directory = freshDirectory();
const scans = [1, 1_000, 1_000_000].map((firstRow) =>
  freshScan({ migrationId: 0, lines: LINES, firstRow, snapshots: [timeOf(LINES[60]!)] }),
);

const serve = (agree: number, more: object = {}): Promise<Serving> => {
  const scan = scans.map(({ url }) => url).join(',');
  const data = directory.at('data');
  return serveScan({ data, scan, scanAgree: String(agree), scanPageSize: '20', start: 'beginning', ...more });
};

/** Stops the service, and compares its views with those of all updates read from a file. */
async function expectViews(service: Serving): Promise<void> {
  await service.until('/readyz', { ready: true });
  await service[Symbol.asyncDispose]();
  await replayInto(directory.at('wanted'), [directory.writeLines('feed.ndjson', LINES)], { dso: DSO });
  expect(dumpViews(directory.at('data'))).toEqual(dumpViews(directory.at('wanted')));
}

/** A coin of an update goes to somebody else. */
function forged(line: string): string {
  return line.replace(/"initialAmount":"[^"]*"/, '"initialAmount":"1000000.0"');
}
const COIN = LINES.findIndex((line, i) => i > 100 && forged(line) !== line);

describe('serve --scan-agree 2 of three Scans', () => {
  it('reads what they tell alike', async () => {
    await using service = await serve(2);
    await expectViews(service);
  });

  it('does not believe an update that one has forged, nor one that only it has, and names it', async () => {
    scans[0]!.lines[COIN] = forged(LINES[COIN]!);
    const own = LINES[120]!.replace(/"update_id":"[^"]*"/, '"update_id":"1220made-up"');
    scans[0]!.add(own.replace(timeOf(own), timeOf(own).replace(/\d{6}Z/, '000001Z')));
    await using service = await serve(2);
    await service.until('/status', {
      source: { network: { disagreements: { [`${scans[0]!.url}/api/scan`]: 2 } } },
      counts: { updates: LINES.length },
    });
    const metrics = await service.text('/metrics');
    expect(metrics).toContain(`holdfast_source_disagreements_total{server="${scans[0]!.url}/api/scan"} 2`);
    await service.until('/readyz', {
      ready: true,
      degraded: [expect.stringMatching(/^Scans disagree: update .* is not that of/)],
    });
    await expectViews(service);
    expect(service.log.filter(({ level }) => level === 'error')).toHaveLength(2);
  });

  it('misses nothing that one of them lacks, or while one is away', async () => {
    scans[1]!.lines.splice(COIN, 1);
    scans[2]!.fail('/v2/updates', 'closed', 3);
    await using service = await serve(2);
    await service.until('/status', { counts: { updates: LINES.length } });
    await expectViews(service);
  });

  it('begins with a seed that two of them have, though one has a newer one', async () => {
    scans[0]!.change({ snapshots: [timeOf(LINES[60]!), timeOf(LINES[90]!)] });
    await using service = await serve(2, { start: 'snapshot' });
    await service.until('/readyz', { ready: true });
    const [shown] = timeOf(LINES[60]!).split('.');
    expect(await service.get('/status')).toMatchObject({ seeded_at: expect.stringContaining(shown!) });
  });

  it('waits with a seed whose sums others do not have', async () => {
    for (const other of scans.slice(1)) other.change({ wrongBy: { summary: 1, supply: 0 } });
    await using service = await serve(2, { start: 'snapshot' });
    const says = expect.stringMatching(/only 1 of 3 Scans agree with its seed/);
    await service.until('/status', { source: { network: { last_error: says } } });
    expect(dumpViews(directory.at('data')).snapshot).toEqual([]);
  });
});

describe('serve --scan-agree 3 of three Scans', () => {
  it('waits before what one of them lacks, says so, and goes on once it has it', async () => {
    scans[2]!.lines.splice(COIN, 1);
    await using service = await serve(3);
    const says = expect.stringMatching(/^waiting before update .*, told by .*, .*: not told alike by /);
    await service.until('/readyz', { ready: false, reasons: expect.arrayContaining([says]) });
    // What comes before it may still be on its way to the views.
    const network = { lag_seconds: null, seconds_left: null };
    await service.until('/status', { counts: { updates: COIN }, source: { network } });
    scans[2]!.add(LINES[COIN]!);
    await service.until('/status', { counts: { updates: LINES.length } });
    await expectViews(service);
  });

  it('is refused where one of them refuses', async () => {
    scans[1]!.fail('/v2/updates', { status: 403, body: 'RBAC: access denied' });
    await using service = await serve(3);
    const says = expect.stringMatching(/^--scan-agree 3: only 2 of the Scans can be read: .* answers 403/);
    await service.until('/readyz', { ready: false, reasons: expect.arrayContaining([says]) });
  });
});
