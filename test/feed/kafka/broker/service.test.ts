import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { dropHalted } from '../../../../src/ingest/resolve-halt.ts';
import { SASL_USER } from '../../../support/kafka/broker.ts';
import { type RunningService, serve } from '../../../support/kafka/service.ts';
import { createTopic, type Row, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import type { HistoryItem } from '../../../support/ledger/history.ts';
import { ledgerApiLine } from '../../../support/ledger/ledger-api-lines.ts';
import { oddLedger } from '../../../support/ledger/options.ts';
import { inMergeOrder, intoPartitions, type PartitionedRow } from '../../../support/ledger/partitioned.ts';
import { randomLedger } from '../../../support/ledger/random-ledger.ts';
import { scanLine } from '../../../support/ledger/scan-lines.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../../support/program/temporary-directory.ts';
import { replayInto } from '../../../support/views/replayed.ts';
import { dumpViews } from '../../../support/views/views-dump.ts';

const { addresses, certificates } = inject('kafka');
const address = addresses.plain;

let directory: TemporaryDirectory;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

/** The clocks of its synchronizers agree: what sorts before something else by record time did happen before it. */
const agreeing = (seed: number, changes: Parameters<typeof oddLedger>[1]): Generator<HistoryItem> =>
  randomLedger(oddLedger(seed, { periodMicros: 1, ...changes }));

/** What a participant sends beside ordinary updates. A repair has the time of an earlier update, and so goes with one partition. */
const REPAIRED = { synchronizers: 2, migrationId: 0, carriedOver: 60, importCreatesMax: 5, shares: { repair: 0.2 } };

const serveTopic = (topic: TestTopic, options: Readonly<Record<string, unknown>> = {}): Promise<RunningService> =>
  serve({ data: directory.at('views'), kafkaBrokers: address, kafkaTopic: topic.name, ...options });

/** Whether the views have gone past these rows, and no further. */
async function hasApplied(service: RunningService, rows: readonly Row[]): Promise<boolean> {
  const wanted = new Map<number, number>();
  for (const { partition } of rows) wanted.set(partition, (wanted.get(partition) ?? 0) + 1);
  const position = (await service.status()).source?.position ?? {};
  return [...wanted].every(([partition, count]) => position[partition] === count);
}

async function expectEqualToReplay(rows: readonly Row[], leftOut: readonly string[] = []): Promise<void> {
  const lines = rows.map((row) => row.value!);
  const { halted } = await replayInto(directory.at('expected'), [directory.writeLines('expected.ndjson', lines)]);
  expect(halted).toBeNull();
  const [found, expected] = [dumpViews(directory.at('views')), dumpViews(directory.at('expected'))];
  for (const table of leftOut) delete found[table];
  for (const table of leftOut) delete expected[table];
  expect(found).toEqual(expected);
}

const scanRows = (seed: number): Row[] => intoPartitions(agreeing(seed, { synchronizers: 1 }), 1, scanLine);

describe('the views of a topic', () => {
  it.each([
    { partitions: 1, format: 'scan', lineOf: scanLine, changes: { synchronizers: 1, migrations: 2 } },
    { partitions: 3, format: 'scan', lineOf: scanLine, changes: { synchronizers: 3, migrations: 2 } },
    { partitions: 1, format: 'ledger-api', lineOf: ledgerApiLine, changes: REPAIRED },
    {
      partitions: 3,
      format: 'ledger-api',
      lineOf: ledgerApiLine,
      changes: { ...REPAIRED, shares: {}, synchronizers: 5 },
    },
    { partitions: 12, format: 'ledger-api', lineOf: ledgerApiLine, changes: { synchronizers: 12, migrationId: 0 } },
  ])('equal a replay in merge order: $partitions partitions, $format', async ({ partitions, lineOf, changes }) => {
    const topic = await createTopic(address, { partitions });
    const items = agreeing(7, { updates: 1_000, ...changes });
    const rows: PartitionedRow[] = intoPartitions(items, partitions, (item) => lineOf(item));
    const due = partitions === 1 ? rows : inMergeOrder(rows, partitions);
    expect(due.length).toBeGreaterThan(rows.length * 0.5);
    await topic.send(rows);
    {
      await using service = await serveTopic(topic);
      await service.until('applied', () => hasApplied(service, due));
    }
    await expectEqualToReplay(due);
  });

  it('are the same in two directories', async () => {
    const topic = await createTopic(address, { partitions: 3 });
    const rows = intoPartitions(agreeing(8, { synchronizers: 3 }), 3, scanLine);
    const due = inMergeOrder(rows, 3);
    const half = Math.floor(rows.length / 2);
    await topic.send(rows.slice(0, half));
    {
      await using first = await serveTopic(topic);
      await topic.send(rows.slice(half));
      await using second = await serveTopic(topic, { data: directory.at('second') });
      await first.until('applied', () => hasApplied(first, due));
      await second.until('applied', () => hasApplied(second, due));
    }
    expect(dumpViews(directory.at('second'))).toEqual(dumpViews(directory.at('views')));
    await expectEqualToReplay(due);
  });

  it('ignore tombstones and count them', async () => {
    const topic = await createTopic(address);
    const rows = scanRows(9);
    await topic.send([...rows.slice(0, 50), { partition: 0, value: null }, ...rows.slice(50)]);
    {
      await using service = await serveTopic(topic);
      await service.untilReady();
      expect((await service.status()).counts.ignored['null value']).toBe(1);
    }
    await expectEqualToReplay(rows);
  });

  it('show an update in /status within a second at the head', async () => {
    const topic = await createTopic(address);
    const rows = scanRows(10);
    await topic.send(rows.slice(0, 100));
    await using service = await serveTopic(topic);
    await service.untilReady();
    await topic.send(rows.slice(100, 101));
    const sent = Date.now();
    await service.until('shown', async () => (await service.status()).source?.position['0'] === 101);
    expect(Date.now() - sent).toBeLessThan(1_000);
  });
});

describe('a history file first, the topic after', () => {
  const rows = scanRows(11);
  const cut = (share: number): number => Math.floor(rows.length * share);
  const fileOf = (part: readonly Row[]): string =>
    directory.writeLines(
      'history.ndjson',
      part.map((row) => row.value!),
    );

  it('that overlap: nothing is doubled and nothing is missed', async () => {
    const topic = await createTopic(address);
    await topic.send(rows.slice(cut(0.4)));
    {
      await using service = await serveTopic(topic, { file: [fileOf(rows.slice(0, cut(0.6)))] });
      await service.untilReady();
      const { counts, source } = await service.status();
      expect(counts.redelivered).toBe(cut(0.6) - cut(0.4));
      expect(source!.position).toEqual({ 0: rows.length - cut(0.4) });
    }
    await expectEqualToReplay(rows);
  });

  it('that do not meet: refused as a possible gap, also when started again, and nothing of the topic is applied', async () => {
    const topic = await createTopic(address);
    await topic.send(rows.slice(cut(0.7)));
    const file = fileOf(rows.slice(0, cut(0.6)));
    for (const options of [{ file: [file] }, {}]) {
      await using service = await serveTopic(topic, options);
      await service.until('refused', async () => (await service.status()).phase === 'refused');
      const { ready, reasons } = await service.readyz();
      expect([ready, reasons.join()]).toEqual([
        false,
        expect.stringMatching(/possible gap: the files end at .* sync-0/),
      ]);
      expect(service.log).toContainEqual({ level: 'error', message: expect.stringContaining('possible gap') });
    }
    // Which of its synchronizers the topic has yet to show is kept beside them.
    await expectEqualToReplay(rows.slice(0, cut(0.6)), ['synchronizer']);
    {
      // As the refusal advises.
      await using service = await serveTopic(topic, { file: [fileOf(rows.slice(0, cut(0.8)))] });
      await service.untilReady();
    }
    rmSync(directory.at('expected'), { recursive: true });
    await expectEqualToReplay(rows);
  });

  it('that begins with a checkpoint: nothing is sealed on its word before the two have met', async () => {
    const topic = await createTopic(address);
    const quiet = (second: number): string => emptyUpdate('s', second);
    const synchronizerTimes = [{ synchronizerId: 's', recordTime: '2025-01-01T06:00:00Z' }];
    const checkpoint = JSON.stringify({ update: { OffsetCheckpoint: { value: { offset: 9, synchronizerTimes } } } });
    await topic.send([{ partition: 0, value: checkpoint }]);
    const file = directory.writeLines('history.ndjson', [quiet(0), quiet(3_600)]);
    await using service = await serveTopic(topic, { file: [file] });
    await service.until('read', async () => (await service.status()).source?.position['0'] === 1);
    await replayInto(directory.at('expected'), [file]);
    const { snapshot } = dumpViews(directory.at('expected'));
    expect(dumpViews(directory.at('views')).snapshot).toEqual(snapshot);
    await topic.send([{ partition: 0, value: quiet(30_000) }]);
    await service.until('refused', async () => (await service.status()).phase === 'refused');
    expect((await service.readyz()).reasons.join()).toContain('possible gap');
    expect(dumpViews(directory.at('views')).snapshot).toEqual(snapshot);
  });
});

describe('a message that cannot be applied', () => {
  const rows = scanRows(12);
  const poisoned = [...rows.slice(0, 120), { partition: 0, value: '{"foo": 1}' }, ...rows.slice(120)];

  it('halts there, and after a drop the rest is applied', async () => {
    const topic = await createTopic(address);
    await topic.send(poisoned);
    for (let start = 0; start < 2; start++) {
      await using service = await serveTopic(topic);
      await service.until('halted', async () => (await service.status()).phase === 'halted');
      const { halted, source } = await service.status();
      expect(halted).toMatchObject({ offset: 120, dead_letter: 1 });
      expect(source!.position).toEqual({ 0: 120 });
      expect((await service.readyz()).reasons.join()).toContain(`halted at topic ${topic.name}`);
    }
    await expectEqualToReplay(rows.slice(0, 120));
    dropHalted(directory.at('views'), 1);
    {
      await using service = await serveTopic(topic);
      await service.untilReady();
      expect((await service.status()).source?.position['0']).toBe(rows.length + 1);
    }
    rmSync(directory.at('expected'), { recursive: true });
    await expectEqualToReplay(rows);
  });

  it('is left out under quarantine, and readiness says so', async () => {
    const topic = await createTopic(address);
    await topic.send(poisoned);
    {
      await using service = await serveTopic(topic, { onBadUpdate: 'quarantine' });
      await service.untilReady();
      expect((await service.readyz()).degraded).toHaveLength(1);
    }
    await expectEqualToReplay(rows);
  });
});

describe('partitions that are idle', () => {
  const [early, grid, later] = [100, 3 * 3600, 3 * 3600 + 500];
  const far: Row[] = [0, grid, later + 50].map((second) => ({ partition: 0, value: emptyUpdate('a', second) }));
  const passedOver = { kafkaPartitionIdle: '1s' };

  it('hold the others, and readiness names them', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send(far);
    await using service = await serveTopic(topic);
    const named = 'partition 1 is at its end and holds the others until it shows a later message';
    await service.until('held', async () => (await service.readyz()).reasons.includes(named));
    const { counts, source } = await service.status();
    expect(counts.updates).toBe(0);
    expect(source!.topic!.partitions).toMatchObject([
      { partition: 0, next_offset: 0, end_offset: 3, lag: 3 },
      { partition: 1, next_offset: 0, end_offset: 0, lag: 0 },
    ]);
  });

  it('that are passed over may still show what lies after the last snapshot', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send(far);
    await using service = await serveTopic(topic, passedOver);
    await service.untilReady();
    await topic.send([{ partition: 1, value: emptyUpdate('b', later) }]);
    await service.until('applied', async () => (await service.status()).counts.updates === 4);
    expect((await service.status()).phase).toBe('reading');
  });

  it.each([
    { when: 'while it runs', restart: false },
    { when: 'after a restart', restart: true },
  ])('halt whatever the policy when what they show lies before a snapshot: $when', async ({ restart }) => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send([...far, { partition: 1, value: emptyUpdate('b', 5) }]);
    const options = { ...passedOver, onBadUpdate: 'quarantine' };
    const late = (): Promise<void> => topic.send([{ partition: 1, value: emptyUpdate('b', early) }]);
    const halts = async (service: RunningService): Promise<void> => {
      await service.until('halted', async () => (await service.status()).phase === 'halted');
      const { halted, counts } = await service.status();
      expect(halted).toMatchObject({ kind: 'overtaken', offset: 1 });
      expect(halted!.reason).toContain('was passed over as idle');
      expect(counts.updates).toBe(restart ? 0 : 4);
    };
    {
      await using service = await serveTopic(topic, options);
      await service.untilReady();
      if (!restart) {
        await late();
        await halts(service);
        return;
      }
    }
    await late();
    await using service = await serveTopic(topic, options);
    await halts(service);
  });
});

describe('who may read', () => {
  it('is one member of a group at a time: another one stops both, and readiness says why', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send([0, 1].map((partition) => ({ partition, value: emptyUpdate(`s${partition}`, 1) })));
    const shared = { kafkaGroup: `shared-${topic.name}`, kafkaPartitionIdle: '1ms' };
    await using first = await serveTopic(topic, shared);
    await first.until('read', async () => (await first.status()).counts.updates === 2);
    {
      await using second = await serveTopic(topic, { ...shared, data: directory.at('second') });
      for (const service of [first, second]) {
        await service.until('stopped', async () => /another member/.test((await service.readyz()).reasons.join()));
      }
      await topic.send([0, 1].map((partition) => ({ partition, value: emptyUpdate(`s${partition}`, 2) })));
    }
    await first.until('read on', async () => (await first.status()).counts.updates === 4);
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'])(
    'logs in with %s, over TLS, and keeps the password to itself',
    async (mechanism) => {
      const topic = await createTopic(address);
      await topic.send(scanRows(13));
      const password = directory.writeLines('password', [SASL_USER.password]);
      await using service = await serveTopic(topic, {
        ...{
          kafkaBrokers: addresses.saslTls,
          kafkaSsl: true,
          kafkaSslCa: certificates.ca,
          kafkaSaslMechanism: mechanism,
        },
        ...{ kafkaSaslUsername: SASL_USER.username, kafkaSaslPasswordFile: password },
      });
      await service.untilReady();
      expect(JSON.stringify([service.log, await service.status()])).not.toContain(SASL_USER.password);
    },
  );

  it('shows a client certificate where the broker asks for one', async () => {
    const topic = await createTopic(address);
    await topic.send(scanRows(14));
    const tls = { kafkaBrokers: addresses.tls, kafkaSslCa: certificates.ca };
    const { clientCert: kafkaSslCert, clientKey: kafkaSslKey } = certificates;
    await using service = await serveTopic(topic, { ...tls, kafkaSslCert, kafkaSslKey });
    await service.untilReady();
    await using stranger = await serveTopic(topic, { ...tls, data: directory.at('stranger') });
    await stranger.until('refused', async () => /cannot read topic/.test((await stranger.readyz()).reasons.join()));
  });
});
