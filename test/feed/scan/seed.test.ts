import { describe, expect, it } from 'vitest';
import { serveScan } from '../../support/feed/serve.ts';
import { holdfast } from '../../support/program/command.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { seededFeed } from '../../support/scan/active-contracts.ts';
import { freshScan } from '../../support/scan/fresh-scan.ts';
import { DSO, scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { type Fault, startFakeScan } from '../../support/scan/server.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const directory = freshDirectory();
const scan = freshScan({ migrationId: 0 });
const data = (): string => directory.at('data');

const LINES = scanLedger(11, 400);
/** Of a snapshot: that of an update, so that it belongs to it. */
const at = (update: number): string => timeOf(LINES[update]!);

/** Hours after the last update. */
const QUIET = '2025-03-01T00:00:00.000000Z';

/** The views of a seed at that time and of the updates behind it, read from a file. */
async function replayedFrom(recordTime: string): Promise<ReturnType<typeof dumpViews>> {
  const name = `wanted-${recordTime}`;
  await replayInto(directory.at(name), [directory.writeLines(`${name}.ndjson`, seededFeed(LINES, { recordTime }))], {
    dso: DSO,
  });
  return dumpViews(directory.at(name));
}

const options = (more: object = {}): Record<string, unknown> => ({
  data: data(),
  scan: scan.url,
  scanPageSize: '20',
  ...more,
});

describe('serve --scan in an empty directory', () => {
  it('begins with the newest active contracts and continues with the updates after them', async () => {
    scan.change({ snapshots: [at(100), at(200)] });
    scan.add(...LINES.slice(0, 300));
    {
      await using service = await serveScan(options());
      await service.until('/readyz', { ready: true, degraded: [] });
    }
    // What it holds is continued: there is no second seed.
    scan.change({ snapshots: [at(299)] });
    scan.add(...LINES.slice(300));
    const before = scan.asked.length;
    await using service = await serveScan(options());
    await service.until('/status', { source: { network: { lag_seconds: 0 } }, counts: { updates: 100 } });
    expect(await service.get('/status')).toMatchObject({ seeded_at: at(200).replace(/0+Z$/, 'Z') });
    expect(scan.asked.slice(before).some(({ path }) => path.includes('acs'))).toBe(false);
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(200)));
    const { stdout } = await holdfast('verify', '--data', data());
    expect(stdout).toMatch(/^equal: .* owners; migration 0 begins with the import of 2025-\S+Z\n$/);
  });

  it('is continued after a file that ends with a seed', async () => {
    scan.add(...LINES);
    const feed = seededFeed(LINES, { recordTime: at(200) });
    const lines = feed.slice(0, feed.findIndex((line) => line.startsWith('{"seed"')) + 1);
    await replayInto(data(), [directory.writeLines('seed.ndjson', lines)], { dso: DSO });
    await using service = await serveScan(options());
    await service.until('/readyz', { ready: true });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(200)));
  });

  it('is at its end where no update follows', async () => {
    scan.change({ snapshots: [QUIET] });
    scan.add(...LINES);
    await using service = await serveScan(options());
    await service.until('/readyz', { ready: true, degraded: [] });
  });

  it('waits where the Scan has no snapshot yet', async () => {
    scan.add(...LINES);
    await using service = await serveScan(options());
    await service.until('/readyz', {
      ready: false,
      reasons: [expect.stringContaining('has no snapshot of migration 0 yet'), 'no snapshot is sealed yet'],
    });
    scan.change({ snapshots: [at(200)] });
    await service.until('/readyz', { ready: true });
  });

  it('begins its seed anew where it was stopped in the middle, also at another snapshot', async () => {
    scan.change({ snapshots: [at(100)] });
    scan.add(...LINES);
    scan.fail('/v1/holdings/summary', { status: 503, body: { error: 'busy' } });
    {
      await using service = await serveScan(options());
      await service.until('/status', {
        source: { position: 'seed', network: { last_error: expect.stringContaining('503') } },
      });
      await service.until('/readyz', { ready: false });
    }
    expect(dumpViews(data()).holding!.length).toBeGreaterThan(20);
    expect(dumpViews(data()).snapshot).toEqual([]);
    scan.fail('/v1/holdings/summary', null);
    scan.change({ snapshots: [at(250)] });
    await using service = await serveScan(options());
    await service.until('/readyz', { ready: true });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(250)));
    expect((await holdfast('verify', '--data', data())).stdout).toMatch(/^equal: /);
  });

  it('begins anew with another Scan where the first fails in the middle', async () => {
    await using other = await startFakeScan({ migrationId: 0, firstRow: 5, snapshots: [at(250)], lines: LINES });
    scan.change({ snapshots: [at(100)] });
    scan.add(...LINES);
    scan.fail('/v1/holdings/summary', { status: 404, body: { error: 'gone' } });
    await using service = await serveScan(options({ scan: `${scan.url},${other.url}` }));
    await service.until('/readyz', { ready: true });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(250)));
  });

  it('is refused where the sums of an owner are not those that the Scan says, and nothing is served', async () => {
    scan.change({ snapshots: [at(200)], wrongBy: { summary: 1, supply: 0 } });
    scan.add(...LINES);
    {
      await using service = await serveScan(options());
      const reason = expect.stringMatching(
        /^the active contracts of .* give .* and its summary says .*: nothing of this/,
      );
      await service.until('/readyz', { ready: false, reasons: [reason, 'no snapshot is sealed yet'] });
    }
    scan.change({ wrongBy: { summary: 0, supply: 0 } });
    await using service = await serveScan(options());
    await service.until('/readyz', { ready: true });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(200)));
  });

  it('is degraded where the supply is not that which the Scan says, also after a restart', async () => {
    scan.change({ snapshots: [at(200)], wrongBy: { summary: 0, supply: 7 } });
    scan.add(...LINES);
    const difference = expect.stringMatching(
      /^the snapshot import of .* has a supply of .*, and .* says .*: contracts that came/,
    );
    {
      await using service = await serveScan(options());
      await service.until('/readyz', { ready: true, degraded: [difference] });
    }
    scan.change({ wrongBy: { summary: 0, supply: 0 } });
    await using again = await serveScan(options());
    await again.until('/readyz', { ready: true, degraded: [difference] });
  });

  it.each<[string, Fault, RegExp]>([
    [
      'does not know the path',
      { status: 404, body: '<html>404 Not Found</html>' },
      /answers 404 \(<html>404 Not Found/,
    ],
    ['fails at it', { status: 500, body: 'Internal Server Error' }, /answers 500 \(Internal Server Error\)$/],
    ['closes the connection', 'closed', /closed the connection before it answered$/],
  ])('is served and degraded where the host of the only Scan %s of the supply', async (_, fault, says) => {
    scan.change({ snapshots: [at(200)] });
    scan.add(...LINES);
    scan.fail('/registry', fault);
    await using service = await serveScan(options());
    const degraded = [
      expect.stringMatching(/^the supply of the snapshot import could not be compared: http\S+\/registry\//),
    ];
    await service.until('/readyz', { ready: true, degraded });
    expect(await service.get('/readyz')).toMatchObject({ degraded: [expect.stringMatching(says)] });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(200)));
  });

  it('tries the same page of the same Scan again', async () => {
    scan.change({ snapshots: [at(200)] });
    scan.add(...LINES);
    scan.fail('/v2/state/acs', 'cut', 1);
    await using service = await serveScan(options());
    await service.until('/readyz', { ready: true });
    expect(scan.asked.filter(({ path }) => path.includes('snapshot-timestamp'))).toHaveLength(1);
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(200)));
  });
});
