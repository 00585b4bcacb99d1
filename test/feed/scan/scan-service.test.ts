import { describe, expect, it } from 'vitest';
import { activeContracts, seededFeed, seedImports } from '../../../demo/active-contracts.ts';
import { TOPIC_KIND } from '../../../src/feed/kafka/kafka-kind.ts';
import { makeDataDirectory } from '../../../src/views/store/database.ts';
import { ViewsWriter } from '../../../src/views/write/writer.ts';
import { type Serving, serveScan } from '../../support/feed/serve.ts';
import { holdfast } from '../../support/program/command.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { freshScan } from '../../support/scan/fresh-scan.ts';
import { DSO, scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { decodeAlone } from '../../support/views/inline-feed.ts';
import { replayInto, WRITER_OPTIONS } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const directory = freshDirectory();
const scan = freshScan({ migrationId: 0 });
const data = (): string => directory.at('data');

const LINES = scanLedger(11, 400);
/** Of a snapshot: that of an update, so that it belongs to it. */
const at = (update: number): string => timeOf(LINES[update]!);

const serve = (more: object = {}): Promise<Serving> =>
  serveScan({ data: data(), scan: scan.url, scanPageSize: '20', start: 'beginning', ...more });

/** The views of the same messages read from a file. */
async function viewsOf(lines: readonly string[]): Promise<ReturnType<typeof dumpViews>> {
  const wanted = directory.at('wanted');
  await replayInto(wanted, [directory.writeLines('wanted.ndjson', lines)], { dso: DSO });
  return dumpViews(wanted);
}

async function expectViews(lines: readonly string[]): Promise<void> {
  expect(dumpViews(data())).toEqual(await viewsOf(lines));
  const begins = lines.some((line) => line.startsWith('{"seed"'))
    ? '; migration 0 begins with the import of 2025-'
    : '\\n';
  expect((await holdfast('verify', '--data', data())).stdout).toMatch(new RegExp(`^equal: .* owners${begins}`));
}

const AT_END = { source: { network: { lag_seconds: 0 } } };
const refused = (text: RegExp): object => ({
  ready: false,
  reasons: expect.arrayContaining([expect.stringMatching(text)]),
});

describe('serve --scan --start beginning', () => {
  it('builds the views of the same feed read from a file, also over a restart', async () => {
    scan.add(...LINES.slice(0, 250));
    {
      await using service = await serve();
      await service.until('/readyz', { ready: true, reasons: [], degraded: [] });
      scan.add(...LINES.slice(250, 350));
      await service.until('/status', { ...AT_END, counts: { updates: 350 } });
    }
    scan.add(...LINES.slice(350));
    {
      await using service = await serve();
      await service.until('/status', { ...AT_END, counts: { updates: 50 }, dso: DSO, dso_pinned: true });
    }
    await expectViews(LINES);
    scan.change({ dso: 'OTHER::1220ff' });
    await using service = await serve();
    const text = /^these views were built from the network of DSO::1220dd, and Scan .* is the/;
    await service.until('/readyz', refused(text));
    await service.until('/status', { phase: 'refused', last_error: { message: expect.stringMatching(text) } });
  });

  it('refuses another DSO than the pinned one', async () => {
    scan.add(...LINES);
    await using service = await serve({ dso: 'OTHER::1220ff' });
    await service.until('/readyz', refused(/^these views count the coins of OTHER::1220ff, and the DSO of Scan .* is/));
    expect(dumpViews(data()).holding).toEqual([]);
  });
});

describe('bad updates with times ahead of what a Scan has, and of our clock', () => {
  const [FIRST, LATER, LAST] = [LINES.slice(0, 60), LINES.slice(60, 80), LINES.slice(80, 100)];
  const base = FIRST.at(-1)!;
  const updateAt = (time: string): string =>
    base.replaceAll(timeOf(base), time).replace(/"update_id":"[^"]*"/, `"update_id":"1220bad${time}"`);
  /** What makes it bad stands where its position is read. */
  const badAt = (time: string): string => updateAt(time).replace(/"synchronizer_id":"[^"]*"/, '"synchronizer_id":7');
  /** Only decoding it shows that it is bad. */
  const badWithinAt = (time: string): string =>
    JSON.stringify({ ...(JSON.parse(updateAt(time)) as object), root_event_ids: ['1220bad:7'] });
  /** It can be decoded, and the contract that it archives is unknown. */
  const unknownAt = (time: string): string =>
    JSON.stringify({
      ...(JSON.parse(badAt(time)) as object),
      synchronizer_id: 'dritte::1220dd',
      root_event_ids: ['1220bad:0'],
      events_by_id: {
        '1220bad:0': {
          ...{ event_type: 'exercised_event', event_id: '1220bad:0', contract_id: '00bad', choice: 'Archive' },
          ...{ template_id: 'p:Splice.Amulet:Amulet', package_name: 'splice-amulet', choice_argument: {} },
          ...{ child_event_ids: [], exercise_result: {}, consuming: true, acting_parties: [], interface_id: null },
        },
      },
    });
  const SOON = new Date(Date.now() + 30 * 60_000).toISOString();
  const TIMES = ['2025-12-31T00:00:00.000000Z', SOON, '2199-01-01T00:00:00.000000Z'];
  const BAD = [badAt, badWithinAt].flatMap((bad, i) => TIMES.map((time) => bad(time.replace('00.', `0${i}.`))));
  const ALL_BAD = [...BAD, unknownAt('2025-12-30T00:00:00.000000Z')];

  it('move no position: what follows is read, also after a restart', async () => {
    scan.add(...FIRST, ...ALL_BAD);
    const options = { onBadUpdate: 'quarantine' };
    {
      await using service = await serve(options);
      await service.until('/status', { dead_letters: { quarantined: ALL_BAD.length } });
      scan.add(...LATER);
      await service.until('/status', { counts: { updates: FIRST.length + LATER.length } });
    }
    scan.add(...LAST);
    await using service = await serve(options);
    await service.until('/status', { counts: { updates: LAST.length } });
  });
});

describe('serve --scan in an empty directory', () => {
  const SNAPSHOT = { start: 'snapshot' };

  it('restarts its import where it was stopped in the middle, also at another snapshot, and then continues', async () => {
    scan.change({ snapshots: [at(100)], wrongBy: { summary: 0, supply: 7 } });
    scan.add(...LINES.slice(0, 300));
    scan.fail('/v1/holdings/summary', { status: 503, body: { error: 'busy' } });
    {
      await using service = await serve(SNAPSHOT);
      const last_error = expect.stringContaining('503');
      await service.until('/status', { source: { position: 'seed', network: { last_error } } });
      await service.until('/readyz', { ready: false });
    }
    expect(dumpViews(data()).holding!.length).toBeGreaterThan(20);
    expect(dumpViews(data()).snapshot).toEqual([]);
    scan.fail('/v1/holdings/summary', null);
    scan.change({ snapshots: [at(200)] });
    const degraded = [expect.stringMatching(/^the snapshot import of .* has a supply of .*, and .* says .*/)];
    {
      await using service = await serve(SNAPSHOT);
      await service.until('/readyz', { ready: true, degraded });
      expect(await service.get('/status')).toMatchObject({ seeded_at: at(200).replace(/0+Z$/, 'Z') });
      scan.add(...LINES.slice(300));
      await service.until('/status', {
        ...AT_END,
        source: { position: expect.stringContaining(at(399).slice(0, 19)) },
      });
    }
    await expectViews(seededFeed(LINES, { recordTime: at(200) }));
  });
});

describe('a network is continued', () => {
  it('after another source, whose resume tokens it does not know, which then cannot come back', async () => {
    const topic = { name: 'topic t', kind: TOPIC_KIND };
    const identity = '{"clusterId":"c","topic":"t"}';
    makeDataDirectory(data());
    {
      using writer = new ViewsWriter(data(), { ...WRITER_OPTIONS, dso: DSO });
      writer.beginSource(topic);
      writer.followSource({ identity, resumeTokens: new Map([['0', '0']]) });
      for (const [offset, line] of LINES.slice(0, 350).entries())
        writer.apply(decodeAlone({ lane: '0', offset, bytes: Buffer.from(line) }));
      writer.commit();
    }
    scan.add(...LINES);
    {
      await using service = await serve();
      await service.until('/status', { ...AT_END, counts: { updates: 50 } });
      await service.until('/readyz', { ready: true });
    }
    await expectViews(LINES);
    using writer = new ViewsWriter(data(), WRITER_OPTIONS);
    writer.beginSource(topic);
    expect(() => writer.followSource({ identity, resumeTokens: new Map([['0', '350']]) })).toThrow(
      /^these views were built from the network of DSO::1220dd, and topic t is/,
    );
  });

  it('in a later migration after files that bring what was carried over', async () => {
    const [before, after] = [
      LINES.slice(0, 70),
      LINES.slice(70, 120).map((line) => line.replace('"migration_id":0', '"migration_id":1')),
    ];
    const active = activeContracts(before, { migrationId: 0, recordTime: timeOf(before.at(-1)!) });
    const imports = seedImports(active, 1).map((line) => line.replace('"seed":true,', ''));
    scan.add(...before.slice(0, 40));
    {
      await using service = await serve();
      await service.until('/readyz', { ready: true });
      scan.add(...before.slice(40), ...after);
      scan.change({ migrationId: 1 });
      await service.until('/status', { phase: 'refused', counts: { updates: before.length } });
    }
    const carried = directory.writeLines('carried.ndjson', [...imports, ...after.slice(0, 10)]);
    expect(await holdfast('replay', carried, '--data', data())).toMatchObject({ code: 0 });
    {
      await using service = await serve();
      await service.until('/readyz', { ready: true });
    }
    await expectViews([...before, ...imports, ...after]);
  });
});
