import { describe, expect, it } from 'vitest';
import { serveScan } from '../../support/feed/serve.ts';
import { holdfast } from '../../support/program/command.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { seededFeed } from '../../support/scan/active-contracts.ts';
import type { Holdings } from '../../support/scan/answers.ts';
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

/** Which versions of /state/acs a Scan knows: Splice before 0.7.5, since then, and since 0.9. */
const VERSIONS: readonly { readonly acs: Holdings['acs'] }[] = [
  { acs: ['v1'] },
  { acs: ['v1', 'v2'] },
  { acs: ['v2'] },
];

const acsAsked = (): string[] => scan.asked.filter(({ path }) => path.endsWith('/state/acs')).map(({ path }) => path);

describe.each(VERSIONS)('a Scan with $acs of /state/acs', ({ acs }) => {
  it('gives the active contracts of an empty directory, in pages, by the newest version that it has', async () => {
    scan.change({ snapshots: [at(200)], acs });
    scan.add(...LINES);
    await using service = await serveScan(options());
    await service.until('/readyz', { ready: true, degraded: [] });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(200)));
    const [first, ...more] = acsAsked();
    expect(first).toBe('/v2/state/acs');
    expect(more.length).toBeGreaterThan(2);
    expect(new Set(more)).toEqual(new Set([acs.includes('v2') ? '/v2/state/acs' : '/v1/state/acs']));
  });

  it('whose snapshot is removed while it is read begins again with its newest', async () => {
    scan.change({ snapshots: [at(100)], acs });
    scan.add(...LINES);
    const gone = { error: `Failed to find ACS snapshot for migration id 0 at ${at(100)}` };
    const path = `/${acs.at(-1)}/state/acs`;
    scan.fail(path, ({ after }, answer) => (after === undefined ? answer : { status: 404, body: gone }));
    await using service = await serveScan(options());
    await service.until('/readyz', { reasons: expect.arrayContaining([expect.stringContaining('is gone')]) });
    scan.change({ snapshots: [at(250)] });
    scan.fail(path, null);
    await service.until('/readyz', { ready: true });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(250)));
  });
});

describe('a Scan without the path of a version of /state/acs', () => {
  const UNKNOWN: readonly (readonly [string, Fault])[] = [
    ['a 404 in HTML', { status: 404, body: '<html>not found</html>' }],
    ['a 404 of its own', { status: 404, body: { error: 'The requested resource could not be found.' } }],
    ['405', { status: 405, body: 'HTTP method not allowed' }],
    ['501', { status: 501, body: '' }],
  ];
  it.each(UNKNOWN)('which says so by %s is asked for the other', async (_, fault) => {
    scan.change({ snapshots: [at(200)] });
    scan.add(...LINES);
    scan.fail('/v2/state/acs', fault);
    await using service = await serveScan(options());
    await service.until('/readyz', { ready: true });
  });

  const NEITHER = 'has neither /v2/state/acs nor /v1/state/acs, which give the active contracts';

  it('of both is refused with them and its version, and the next Scan is read', async () => {
    scan.change({ snapshots: [at(200)], acs: [], version: '0.11.0-snapshot.20261101' });
    scan.add(...LINES);
    const reason = expect.stringMatching(
      new RegExp(
        `^${scan.url}/api/scan ${NEITHER} \\(Splice of version 0\\.11\\.0-snapshot\\.20261101\\): .*is not asked again`,
      ),
    );
    {
      await using service = await serveScan(options());
      await service.until('/readyz', { ready: false, reasons: [reason, 'no snapshot is sealed yet'] });
      await service.until('/status', { phase: 'refused', last_error: { message: reason } });
      expect(service.log.some(({ message }) => message.includes(NEITHER))).toBe(true);
    }
    await using other = await startFakeScan({ migrationId: 0, snapshots: [at(250)], lines: LINES, acs: ['v2'] });
    await using service = await serveScan(options({ scan: `${scan.url},${other.url}` }));
    await service.until('/readyz', { ready: true });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(250)));
  });

  it('of both is asked again where it does not say its version: it may be away behind a proxy', async () => {
    scan.change({ snapshots: [at(200)], acs: [] });
    scan.add(...LINES);
    scan.fail('/version', { status: 404, body: 'default backend - 404' });
    await using service = await serveScan(options());
    await service.until('/readyz', {
      ready: false,
      reasons: expect.arrayContaining([expect.stringContaining(`${NEITHER} (Splice of unknown version)`)]),
    });
    scan.change({ acs: ['v2'] });
    await service.until('/readyz', { ready: true });
  });

  it.each(['x'.repeat(100_000), '0.9\n\u001b[31mred', ''])(
    'of both may give a version that is not shown: %#',
    async (version) => {
      scan.change({ snapshots: [at(200)], acs: [], version });
      scan.add(...LINES);
      await using service = await serveScan(options());
      const unknown = expect.stringContaining(`${NEITHER} (Splice of unknown version)`);
      await service.until('/readyz', { ready: false, reasons: expect.arrayContaining([unknown]) });
    },
  );

  it('which it loses in the middle, as when it is upgraded, begins again with the other', async () => {
    scan.change({ snapshots: [at(200)], acs: ['v1'] });
    scan.add(...LINES);
    scan.fail('/v1/state/acs', ({ after }, answer) => {
      if (after === undefined) return answer;
      scan.change({ acs: ['v2'] });
      return { status: 404, body: 'The requested resource could not be found.' };
    });
    await using service = await serveScan(options());
    await service.until('/readyz', { ready: true });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(200)));
  });
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
    expect(stdout).toMatch(/^equal: .* owners; migration 0 begins with the seed of 2025-\S+Z\n$/);
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
    const difference = expect.stringMatching(/^the seed of .* has a supply of .*, and .* says .*: contracts that came/);
    {
      await using service = await serveScan(options());
      await service.until('/readyz', { ready: true, degraded: [difference] });
    }
    scan.change({ wrongBy: { summary: 0, supply: 0 } });
    await using again = await serveScan(options());
    await again.until('/readyz', { ready: true, degraded: [difference] });
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
