import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { TOPIC_KIND } from '../../../src/feed/kafka/kafka-kind.ts';
import { createScanClient } from '../../../src/feed/scan/scan-client.ts';
import { makeDataDirectory } from '../../../src/views/store/database.ts';
import { ViewsWriter } from '../../../src/views/write/writer.ts';
import { serveScan } from '../../support/feed/serve.ts';
import { createCertificates } from '../../support/kafka/certificates.ts';
import { holdfast } from '../../support/program/command.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { freshScan } from '../../support/scan/fresh-scan.ts';
import { DSO, scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { type Fault, startFakeScan } from '../../support/scan/server.ts';
import { decodeAlone } from '../../support/views/inline-feed.ts';
import { replayInto, WRITER_OPTIONS } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const LINES = scanLedger(21, 120);
const directory = freshDirectory();
const scan = freshScan({ migrationId: 0, lines: LINES });
const data = (): string => directory.at('data');

const PASSING: readonly (readonly [string, Fault])[] = [
  ['429 with Retry-After', { status: 429, body: 'Too Many Requests', headers: { 'retry-after': '1' } }],
  ['500', { status: 500, body: { error: 'An unexpected error occurred.' } }],
  ['502 of a proxy', { status: 502, body: '<html>' }],
  ['404 of a proxy', { status: 404, body: 'default backend - 404' }],
  [
    '503 before the history is there',
    { status: 503, body: { error: 'This scan has not yet loaded its updates history' } },
  ],
  ['an answer that is cut', 'cut'],
  ['an answer that is no gzip', 'no gzip'],
  ['an answer that is no JSON', 'no json'],
  ['an answer without updates', { status: 200, body: { something: [] } }],
  ['a closed connection', 'closed'],
];

const options = (more: object = {}): Record<string, unknown> => {
  return { data: data(), scan: scan.url, scanPageSize: '20', start: 'beginning', ...more };
};

/** All was read, and the views are those of the same updates read from a file. */
async function expectAll(service: Awaited<ReturnType<typeof serveScan>>): Promise<void> {
  await service.until('/status', { source: { network: { lag_seconds: 0 } }, counts: { updates: LINES.length } });
  await service.until('/readyz', { ready: true });
  await service[Symbol.asyncDispose]();
  await replayInto(directory.at('wanted'), [directory.writeLines('feed.ndjson', LINES)], { dso: DSO });
  expect(dumpViews(data())).toEqual(dumpViews(directory.at('wanted')));
}

const refused = (text: RegExp): object => ({
  ready: false,
  reasons: expect.arrayContaining([expect.stringMatching(text)]),
});

describe('a Scan that fails', () => {
  it.each(PASSING)('by %s is asked again, and nothing is missing', async (_, fault) => {
    scan.fail('/v2/updates', fault, 1);
    await using service = await serveScan(options());
    await expectAll(service);
    expect(service.log.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('for long is what readiness says, and the next one is asked', async () => {
    scan.fail('/', 'closed');
    {
      await using service = await serveScan(options());
      await service.until('/readyz', refused(/^cannot read the network: .*\/v0\/dso-party-id: closed the connection/));
      await service.until('/status', { source: { network: { lag_seconds: null, seconds_left: null } } });
    }
    await using other = await startFakeScan({ migrationId: 0, lines: LINES });
    await using service = await serveScan(options({ scan: `${scan.url},${other.url}` }));
    await expectAll(service);
  });

  it('by 403 is refused, with the reason, and not asked again; the next one is', async () => {
    scan.fail('/', { status: 403, body: 'RBAC: access denied' });
    {
      await using service = await serveScan(options());
      await service.until(
        '/readyz',
        refused(/dso-party-id: answers 403 \(RBAC: access denied\): .* has to add ours; it is not asked again before/),
      );
      await service.until('/status', { phase: 'refused' });
    }
    await using other = await startFakeScan({ migrationId: 0, lines: LINES });
    await using service = await serveScan(options({ scan: `${scan.url},${other.url}` }));
    await expectAll(service);
  });

  it('by a redirect is not followed', async () => {
    scan.fail('/', { status: 308, body: '', headers: { location: 'https://elsewhere.example/' } });
    await using service = await serveScan(options());
    await service.until(
      '/readyz',
      refused(/answers 308, which refers to https:\/\/elsewhere\.example\/; it is not asked again/),
    );
  });
});

describe('a Scan with TLS', () => {
  it('is read where --scan-ca names its authority, and says so where not', async () => {
    const { ca, broker } = await createCertificates(directory.path);
    const pem = readFileSync(broker, 'utf8');
    await using secured = await startFakeScan({ migrationId: 0, lines: LINES, tls: { cert: pem, key: pem } });
    {
      await using service = await serveScan(options({ scan: secured.url }));
      await service.until('/readyz', refused(/--scan-ca names the file of the authority/));
    }
    await using service = await serveScan(options({ scan: secured.url, scanCa: ca }));
    await expectAll(service);
  });
});

describe('pages', () => {
  it('are as small as the Scan says, and as it can answer in time', async () => {
    scan.change({ pageSizeMax: 50, pageSizeInTime: 12 });
    await using service = await serveScan(options({ scanPageSize: '500' }));
    await expectAll(service);
    const sizes = scan.asked.filter(({ path }) => path === '/v2/updates').map(({ body }) => body.page_size);
    expect(sizes.slice(0, 5)).toEqual([500, 50, 25, 12, 12]);
  });

  it('that end between updates of one time, or are full of one time, lose none', async () => {
    await using service = await serveScan(options({ scanPageSize: '1' }));
    await expectAll(service);
  });

  it('are asked again for a minute at the end: an update that the Scan takes in late is read', async () => {
    const late = LINES.findIndex((line, i) => i > 90 && line.includes('zweite::1220ee'));
    scan.lines.splice(0, scan.lines.length, ...LINES.slice(0, late), ...LINES.slice(late + 1, late + 2));
    await using service = await serveScan(options());
    await service.until('/status', { source: { network: { lag_seconds: 0 } }, counts: { updates: late + 1 } });
    const [given, moved] = [LINES[late]!, timeOf(LINES[late + 1]!).replace(/\d{3}Z$/, '000Z')];
    scan.add(given.replace(timeOf(given), moved));
    await service.until('/status', { counts: { updates: late + 2 } });
  });
});

describe('what does not fit is refused before anything is applied', () => {
  it('--start beginning of a network that came through a migration', async () => {
    scan.change({ migrationId: 4 });
    await using service = await serveScan(options());
    await service.until('/readyz', refused(/^--start beginning: the network is in migration 4, .* --start snapshot/));
  });

  it('another DSO than the pinned one', async () => {
    await using service = await serveScan(options({ dso: 'OTHER::1220ff' }));
    await service.until(
      '/readyz',
      refused(/^these views count the coins of OTHER::1220ff, and the DSO of Scan .* is DSO/),
    );
    expect(dumpViews(data()).holding).toEqual([]);
  });

  it('another network than before, and Scans of two', async () => {
    {
      await using service = await serveScan(options());
      await service.until('/readyz', { ready: true });
    }
    scan.change({ dso: 'OTHER::1220ff' });
    {
      await using service = await serveScan(options());
      await service.until(
        '/readyz',
        refused(/^these views were built from the network of DSO::1220dd, and Scan .* is the/),
      );
    }
    await using other = await startFakeScan({ migrationId: 0, lines: LINES });
    scan.fail('/v2/updates', 'closed', 1);
    await using service = await serveScan(options({ data: directory.at('new'), scan: `${scan.url},${other.url}` }));
    await service.until('/status', {
      phase: 'refused',
      last_error: { message: expect.stringMatching(/and the other Scans are/) },
    });
  });
});

describe('a network', () => {
  it('is continued after files', async () => {
    await replayInto(data(), [directory.writeLines('files.ndjson', LINES.slice(0, 70))], { dso: DSO });
    await using service = await serveScan(options({ start: 'snapshot' }));
    await service.until('/status', { counts: { updates: 50 } });
    await service.until('/readyz', { ready: true });
  });

  it('is continued after another source, whose cursors it does not know', async () => {
    const identity = '{"clusterId":"c","topic":"t"}';
    makeDataDirectory(data());
    {
      using writer = new ViewsWriter(data(), { ...WRITER_OPTIONS, dso: DSO });
      writer.beginSource({ name: 'topic t', kind: TOPIC_KIND });
      writer.followSource({ identity, cursors: new Map([['0', '0']]) });
      for (const [offset, line] of LINES.slice(0, 70).entries())
        writer.apply(decodeAlone({ lane: '0', offset, bytes: Buffer.from(line) }));
      writer.commit();
    }
    await using service = await serveScan(options());
    await service.until('/status', { source: { network: { lag_seconds: 0 } }, counts: { updates: 50 } });
    await service.until('/readyz', { ready: true });
    await service[Symbol.asyncDispose]();
    await replayInto(directory.at('wanted'), [directory.writeLines('feed.ndjson', LINES)], { dso: DSO });
    expect(dumpViews(data())).toEqual(dumpViews(directory.at('wanted')));
    expect((await holdfast('verify', '--data', data())).stdout).toMatch(/^equal: /);
    using writer = new ViewsWriter(data(), WRITER_OPTIONS);
    writer.beginSource({ name: 'topic t', kind: TOPIC_KIND });
    const back = { identity, cursors: new Map([['0', '70']]) };
    expect(() => writer.followSource(back)).toThrow(
      /^these views were built from the network of DSO::1220dd, and topic t is/,
    );
  });

  it('is not continued by a file that leaves a gap; by one that overlaps it is, and then it continues behind that', async () => {
    scan.lines.splice(0, Infinity, ...LINES.slice(0, 50));
    {
      await using service = await serveScan(options());
      await service.until('/status', { source: { network: { lag_seconds: 0 } }, counts: { updates: 50 } });
    }
    const known = dumpViews(data());
    const gap = directory.writeLines('gap.ndjson', LINES.slice(60, 80));
    for (const command of ['replay', 'serve']) {
      const file = command === 'serve' ? ['--port', '0', '--file', gap] : [gap];
      const { code, stderr } = await holdfast(command, ...file, '--data', data());
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/gap.ndjson begins with record time .* of synchronizer .*, which follows Scan/),
      });
    }
    expect(dumpViews(data()).holding).toEqual(known.holding);
    const overlap = directory.writeLines('overlap.ndjson', LINES.slice(30, 80));
    expect(await holdfast('replay', overlap, '--data', data())).toMatchObject({ code: 0 });
    scan.add(...LINES.slice(50));
    await using service = await serveScan(options());
    await service.until('/status', { source: { network: { lag_seconds: 0 } }, counts: { updates: LINES.length - 80 } });
    await service[Symbol.asyncDispose]();
    await replayInto(directory.at('wanted'), [directory.writeLines('feed.ndjson', LINES)], { dso: DSO });
    expect(dumpViews(data()).holding).toEqual(dumpViews(directory.at('wanted')).holding);
    expect((await holdfast('verify', '--data', data())).stdout).toMatch(/^equal: /);
  });

  it('halts at a bad update, and continues behind it once that is dropped', async () => {
    const [last, more] = [LINES.length - 1, LINES.at(-1)!];
    scan.lines[last] = more.replace(/"record_time":"[^"]*"/, '"record_time":"never"');
    scan.lines.push(more);
    {
      await using service = await serveScan(options());
      await service.until('/status', { phase: 'halted', halted: { kind: 'update' } });
    }
    await holdfast('dead-letters', 'drop', '1', '--yes', '--data', data());
    await using service = await serveScan(options());
    await service.until('/readyz', { ready: true });
    await service.until('/status', { source: { position: expect.stringContaining(timeOf(more).slice(0, 19)) } });
  });
});

describe('an item of more than 16 MiB', () => {
  /** Within the bound of a page, and a few kilobytes as gzip. */
  const item = `{"update_id":"u","contract_id":"c","x":[${'[],'.repeat(6 * 2 ** 20)}0]}`;
  const page = (key: string): Fault => ({ status: 200, body: Buffer.from(`{"${key}":[${item}]}`) });

  it.each(['/v2/updates', '/v2/state/acs'])(
    'of %s is a failure of that Scan, and the next one is read',
    async (path) => {
      const snapshots = [timeOf(LINES[60]!)];
      const start = path === '/v2/updates' ? 'beginning' : 'snapshot';
      scan.change({ snapshots });
      scan.fail(path, page(path === '/v2/updates' ? 'transactions' : 'created_events'));
      {
        await using service = await serveScan(options({ start }));
        await service.until(
          '/readyz',
          refused(new RegExp(`^cannot read the network: .* an item of ${item.length} bytes, which is more`)),
        );
        expect(await service.get('/status')).toMatchObject({ phase: 'reading' });
        expect(JSON.parse((await holdfast('dead-letters', 'list', '--json', '--data', data())).stdout)).toEqual([]);
      }
      await using other = await startFakeScan({ migrationId: 0, lines: LINES, snapshots });
      await using service = await serveScan(options({ start, scan: `${scan.url},${other.url}` }));
      await service.until('/readyz', { ready: true });
    },
  );
});

describe('a page', () => {
  it.each([
    ['more items than were asked for', `{"transactions":[${'1,'.repeat(1_000_000)}1]}`],
    ['much beside its updates', `{"transactions":[],"x":"${'x'.repeat(100_000)}"}`],
  ])('with %s is a failure of that Scan', async (_, body) => {
    scan.fail('/v2/updates', { status: 200, body: Buffer.from(body) });
    await using service = await serveScan(options());
    await service.until('/readyz', refused(/^cannot read the network: .*: answers with/));
    await service.until('/status', { phase: 'reading' });
  });
});

describe('an answer', () => {
  it('is bounded in bytes and in time', async () => {
    const { signal } = new AbortController();
    const url = `${scan.url}/api/scan`;
    using bytes = createScanClient(url, { ca: null, signal, answerBytesMax: 100_000 });
    using time = createScanClient(url, { ca: null, signal, answerTimeoutMs: 300 });
    scan.fail('/v0/endless', 'endless');
    await expect(bytes.ask('/v0/endless')).rejects.toThrow(/answers with more than 100000 bytes$/);
    using parsed = createScanClient(url, { ca: null, signal });
    await expect(parsed.ask('/v0/endless')).rejects.toThrow(/answers with more than 1048576 bytes$/);
    scan.fail('/v0/silent', 'silent');
    await expect(time.ask('/v0/silent')).rejects.toThrow(/has not answered within 0.3 s$/);
  });
});
