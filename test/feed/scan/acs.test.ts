import { describe, expect, it } from 'vitest';
import { SeenOnce } from '../../../src/feed/scan/scan-import.ts';
import { serveScan } from '../../support/feed/serve.ts';
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

  it.each([
    ['snapshot is removed', 404, `Failed to find ACS snapshot for migration id 0 at ${at(100)}`],
    ['page tokens are no longer valid', 400, 'Invalid after token.'],
  ])('whose %s while it is read begins again with its newest', async (_, status, error) => {
    scan.change({ snapshots: [at(100)], acs });
    scan.add(...LINES);
    const path = `/${acs.at(-1)}/state/acs`;
    scan.fail(path, ({ after }, answer) => (after === undefined ? answer : { status, body: { error } }));
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

describe('a Scan that gives something of a snapshot twice', () => {
  type Page = { created_events: { contract_id: string }[]; next_page_token?: unknown };
  type Spoil = (page: Page, after: unknown) => object;
  let first: Page | null = null;
  let asked = 0;
  const SPOILT: readonly (readonly [string, RegExp, Spoil])[] = [
    [
      'the same page token without end',
      /has page token .* twice/,
      (page) => ({ ...page, created_events: [], next_page_token: 'again' }),
    ],
    [
      'a cycle of page tokens',
      /has page token .* twice/,
      (page) => ({ ...page, created_events: [], next_page_token: `token ${asked++ % 5}` }),
    ],
    [
      'the same contracts with new page tokens',
      /has contract \S+ twice/,
      (page, after) => {
        if (after === undefined) first = page;
        return { ...first, next_page_token: `token ${asked++}` };
      },
    ],
    [
      'one contract of its first page in its last',
      /has contract \S+ twice/,
      (page, after) => {
        if (after === undefined) first = page;
        return page.next_page_token === undefined
          ? { ...page, created_events: [...page.created_events, first!.created_events[0]] }
          : page;
      },
    ],
  ];
  it.each(SPOILT)('%s has failed, and the next one is read', async (_, reason, spoil) => {
    [first, asked] = [null, 0];
    scan.change({ snapshots: [at(100)] });
    scan.add(...LINES);
    scan.fail('/v2/state/acs', ({ after }, { body }) => ({ status: 200, body: spoil(body as Page, after) }));
    {
      await using service = await serveScan(options());
      const reasons = expect.arrayContaining([expect.stringMatching(reason)]);
      await service.until('/readyz', { ready: false, reasons });
    }
    await using other = await startFakeScan({ migrationId: 0, snapshots: [at(250)], lines: LINES });
    await using service = await serveScan(options({ scan: `${scan.url},${other.url}` }));
    await service.until('/readyz', { ready: true });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data())).toEqual(await replayedFrom(at(250)));
  });
});

it('contracts are known to have come by hashes that grow with them', () => {
  const seen = new SeenOnce();
  const texts = Array.from({ length: 20_000 }, (_, i) => `contract ${i}`);
  expect(texts.every((text) => seen.add(text))).toBe(true);
  expect(texts.some((text) => seen.add(text))).toBe(false);
});
