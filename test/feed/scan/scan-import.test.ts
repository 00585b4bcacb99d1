import { describe, expect, it, type TestContext } from 'vitest';
import { seededFeed } from '../../../demo/active-contracts.ts';
import { type FakeScan, type FakeScanOptions, startFakeScan } from '../../../demo/local-scan.ts';
import type { Fault } from '../../../demo/local-server.ts';
import type { Holdings } from '../../../demo/scan-answers.ts';
import { type ReadSource, valuesOf } from '../../support/feed/read-source.ts';
import { DSO, scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { operationsOf, readScan } from '../../support/scan/read-scan.ts';

const LINES = scanLedger(11, 400);
/** Of a snapshot: that of an update, so that it belongs to it. */
const at = (update: number): string => timeOf(LINES[update]!);
const says = (text: RegExp): unknown => expect.stringMatching(text);

async function startScan({ onTestFinished }: TestContext, options: FakeScanOptions = {}): Promise<FakeScan> {
  const scan = await startFakeScan({ migrationId: 0, lines: LINES, snapshots: [at(200)], ...options });
  onTestFinished(() => scan[Symbol.asyncDispose]());
  return scan;
}

const readFrom = (...scans: readonly FakeScan[]): Promise<ReadSource> => readScan(scans, { start: 'snapshot' });

/** All of the snapshot of that time was read, and the updates behind it. */
async function expectImport(reading: ReadSource, recordTime = at(200)): Promise<void> {
  await reading.until({ stopped: null, lagSeconds: 0 });
  const byId = (lines: readonly string[]): object[] =>
    valuesOf(lines).sort((a, b) => (String(a.update_id) < String(b.update_id) ? -1 : 1));
  // The minute before the end is asked for again, which may begin before the snapshot.
  const isBehind = (line: string): boolean => line.includes('"seed":') || timeOf(line) > recordTime;
  expect(byId(reading.lines.filter(isBehind))).toEqual(byId(seededFeed(LINES, { recordTime })));
}

const asked = ({ asked: all }: FakeScan, part: string): string[] =>
  all.map(({ path }) => path).filter((path) => path.includes(part));

describe('a Scan', () => {
  const VERSIONS: readonly Holdings['acs'][] = [['v1'], ['v1', 'v2']];
  it.concurrent.for(VERSIONS)(
    'with %s of /state/acs gives its newest active contracts in pages by the newest',
    async (acs, context) => {
      const scan = await startScan(context, { acs, snapshots: [at(100), at(200)] });
      await using reading = await readFrom(scan);
      await expectImport(reading);
      expect(reading.starts).toMatchObject([{ identity: `the network of ${DSO}`, dso: DSO, restarts: true }]);
      const [first, ...more] = asked(scan, '/state/acs').filter((path) => path.endsWith('acs'));
      expect(first).toBe('/v2/state/acs');
      expect(more.length).toBeGreaterThan(2);
      expect(new Set(more)).toEqual(new Set([`/${acs.at(-1)}/state/acs`]));
    },
  );

  it.concurrent.for([
    ['snapshot is removed', 404, `Failed to find ACS snapshot for migration id 0 at ${at(100)}`],
    ['page tokens are no longer valid', 400, 'Invalid after token.'],
  ] as const)('whose %s while it is read is asked for its newest', async ([, status, error], context) => {
    const scan = await startScan(context, { snapshots: [at(100)] });
    const path = '/v2/state/acs';
    scan.fail(path, ({ after }, answer) => (after === undefined ? answer : { status, body: { error } }));
    await using reading = await readFrom(scan);
    await reading.until({ stopped: says(/is gone/) });
    scan.change({ snapshots: [at(250)] });
    scan.fail(path, null);
    await expectImport(reading, at(250));
  });
});

describe('a Scan without the path of a version of /state/acs', () => {
  const UNKNOWN: readonly (readonly [string, Fault])[] = [
    ['a 404 in HTML', { status: 404, body: '<html>not found</html>' }],
    ['501', { status: 501, body: '' }],
  ];
  it.concurrent.for(UNKNOWN)('which says so by %s is asked for the other', async ([, fault], context) => {
    const scan = await startScan(context);
    scan.fail('/v2/state/acs', fault);
    await using reading = await readFrom(scan);
    await expectImport(reading);
  });

  const NEITHER = 'has neither /v2/state/acs nor /v1/state/acs, which give the active contracts';

  it.concurrent('of both is refused with them and its version, and the next Scan is read', async (context) => {
    const scan = await startScan(context, { acs: [], version: '0.11.0-snapshot.20261101' });
    const version = 'version 0\\.11\\.0-snapshot\\.20261101';
    await using alone = await readFrom(scan);
    expect(await alone.refusal()).toMatch(
      new RegExp(`^${operationsOf(scan)} ${NEITHER} \\(Splice of ${version}\\): .*is not asked again`),
    );
    const other = await startScan(context, { snapshots: [at(250)], acs: ['v2'] });
    await using reading = await readFrom(scan, other);
    await expectImport(reading, at(250));
  });

  it.concurrent('of both is asked again where it does not say its version: it may be a proxy', async (context) => {
    const scan = await startScan(context, { acs: [] });
    scan.fail('/version', { status: 404, body: 'default backend - 404' });
    await using reading = await readFrom(scan);
    await reading.until({ stopped: expect.stringContaining(`${NEITHER} (Splice of unknown version)`) });
    scan.change({ acs: ['v2'] });
    await expectImport(reading);
  });

  it.concurrent('of both may give a version that is not shown', async (context) => {
    await using reading = await readFrom(await startScan(context, { acs: [], version: '0.9\n\u001b[31mred' }));
    await reading.until({ stopped: expect.stringContaining(`${NEITHER} (Splice of unknown version)`) });
  });

  it.concurrent('which it loses in the middle, as when it is upgraded, is asked for the other', async (context) => {
    const scan = await startScan(context, { acs: ['v1'] });
    scan.fail('/v1/state/acs', ({ after }, answer) => {
      if (after === undefined) return answer;
      scan.change({ acs: ['v2'] });
      return { status: 404, body: 'The requested resource could not be found.' };
    });
    await using reading = await readFrom(scan);
    await expectImport(reading);
  });
});

describe('a Scan that gives its snapshot wrongly', () => {
  type Page = { created_events: { contract_id: string }[]; next_page_token?: unknown };
  let count = 0;
  const SPOILT: readonly (readonly [string, RegExp, (page: Page, first: Page) => object])[] = [
    [
      'a cycle of page tokens',
      /has page token .* twice/,
      (_, first) => ({ ...first, created_events: [], next_page_token: `token ${count++ % 5}` }),
    ],
    ['another snapshot', /another snapshot than that of/, (page) => ({ ...page, record_time: at(99) })],
    [
      'one contract of its first page in its last',
      /has contract \S+ twice/,
      (page, first) => {
        const { created_events: events } = page;
        return page.next_page_token === undefined
          ? { ...page, created_events: [...events, first.created_events[0]] }
          : page;
      },
    ],
  ];
  it.concurrent.for(SPOILT)('%s has failed, and the next one is read', async ([, reason, spoil], context) => {
    const scan = await startScan(context, { snapshots: [at(100)] });
    let first: Page | null = null;
    scan.fail('/v2/state/acs', ({ after }, { body }) => {
      if (after === undefined) first = body as Page;
      return { status: 200, body: spoil(body as Page, first!) };
    });
    await using alone = await readFrom(scan);
    await alone.until({ stopped: says(reason) });
    await using reading = await readFrom(scan, await startScan(context, { snapshots: [at(250)] }));
    await expectImport(reading, at(250));
  });
});

describe('a snapshot import', () => {
  it.concurrent('is at its end where no update follows', async (context) => {
    await using reading = await readFrom(await startScan(context, { snapshots: ['2025-03-01T00:00:00.000000Z'] }));
    await reading.until({ stopped: null, lagSeconds: 0, caughtUpAt: expect.any(Number) });
  });

  it.concurrent('waits where the Scan has no snapshot yet', async (context) => {
    const scan = await startScan(context, { snapshots: [] });
    await using reading = await readFrom(scan);
    await reading.until({
      stopped: expect.stringContaining('has no snapshot of migration 0 yet; --start beginning needs none'),
    });
    scan.change({ snapshots: [at(200)] });
    await expectImport(reading);
  });

  it.concurrent('restarts with another Scan where the first fails in the middle', async (context) => {
    const scan = await startScan(context, { snapshots: [at(100)] });
    scan.fail('/v1/holdings/summary', { status: 404, body: { error: 'gone' } });
    await using reading = await readFrom(scan, await startScan(context, { firstRow: 5, snapshots: [at(250)] }));
    await expectImport(reading, at(250));
  });

  it.concurrent('is refused where the sums of an owner are not those that the Scan says', async (context) => {
    await using reading = await readFrom(await startScan(context, { wrongBy: { summary: 1, supply: 0 } }));
    expect(await reading.refusal()).toMatch(
      /^the active contracts of .* give .* and its summary says .*: nothing of this/,
    );
    expect(reading.lines.some((line) => line.startsWith('{"seed"'))).toBe(false);
  });

  const SUPPLY: readonly (readonly [string, Fault | null, RegExp])[] = [
    ['another supply', null, /^the snapshot import of .* has a supply of .*, and .* says .*: contracts that came/],
    ['a 404', { status: 404, body: '<html>404 Not Found</html>' }, /could not be compared.* 404 \(<html>404 Not Found/],
  ];
  it.concurrent.for(SUPPLY)('is read and degraded where the host gives %s', async ([, fault, reason], context) => {
    const scan = await startScan(context, { wrongBy: { summary: 0, supply: 7 } });
    if (fault !== null) scan.fail('/registry', fault);
    await using reading = await readFrom(scan);
    await expectImport(reading);
    await reading.until({ degraded: [says(reason)] });
    await using again = await readScan([scan], { start: 'snapshot' }, reading.context());
    await again.until({ stopped: null, lagSeconds: 0, degraded: [says(reason)] });
  });

  it.concurrent('tries the same page of the same Scan again', async (context) => {
    const scan = await startScan(context);
    scan.fail('/v2/state/acs', 'cut', 1);
    await using reading = await readFrom(scan);
    await expectImport(reading);
    expect(asked(scan, 'snapshot-timestamp')).toHaveLength(1);
  });
});
