import { describe, expect, inject, it } from 'vitest';
import { dropHalted } from '../../../../src/ingest/resolve-halt.ts';
import { openStream, shortEvents, withoutStatus } from '../../../support/http/event-stream.ts';
import { SASL_USER } from '../../../support/kafka/broker.ts';
import { agreeingLedger, emptyRows, expectEqualToReplay, hasApplied, scanRows } from '../../../support/kafka/rows.ts';
import { type RunningService, serveTopic } from '../../../support/kafka/service.ts';
import { createTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { ledgerApiLine } from '../../../support/ledger/ledger-api-lines.ts';
import { parseLedger, partyOf } from '../../../support/ledger/parse-ledger.ts';
import { inMergeOrder, intoPartitions, type PartitionedRow } from '../../../support/ledger/partitioned.ts';
import { scanLine } from '../../../support/ledger/scan-lines.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { linesOf } from '../../../support/views/replayed.ts';
import { dumpViews } from '../../../support/views/views-dump.ts';

const { addresses, certificates } = inject('kafka');
const address = addresses.plain;

const directory = freshDirectory();

/**
 * What a participant sends besides ordinary updates. A repair has the time of an earlier update, and so goes with one
 * partition.
 */
const REPAIRED = { synchronizers: 2, migrationId: 0, carriedOver: 60, importCreatesMax: 5, shares: { repair: 0.2 } };

describe('the views of a topic', () => {
  it.each([
    { partitions: 1, format: 'scan', lineOf: scanLine, changes: { synchronizers: 1, migrations: 2 } },
    { partitions: 3, format: 'scan', lineOf: scanLine, changes: { synchronizers: 3, migrations: 2 } },
    { partitions: 1, format: 'ledger-api', lineOf: ledgerApiLine, changes: REPAIRED },
    { partitions: 12, format: 'ledger-api', lineOf: ledgerApiLine, changes: { synchronizers: 12, migrationId: 0 } },
  ])('equal a replay in merge order: $partitions partitions, $format', async ({ partitions, lineOf, changes }) => {
    const topic = await createTopic(address, { partitions });
    const items = agreeingLedger(7, { updates: 600, ...changes });
    const rows: PartitionedRow[] = intoPartitions(items, partitions, (item) => lineOf(item));
    const due = partitions === 1 ? rows : inMergeOrder(rows, partitions);
    expect(due.length).toBeGreaterThan(rows.length * 0.5);
    const half = Math.floor(rows.length / 2);
    await topic.send(rows.slice(0, half));
    {
      await using service = await serveTopic(topic, directory);
      await topic.send(rows.slice(half));
      await service.until('applied', () => hasApplied(service, due));
    }
    await expectEqualToReplay(directory, due);
  });

  it('are the same in two directories, also where they name the same group, and count null values', async () => {
    const topic = await createTopic(address);
    const rows = scanRows(9);
    await topic.send([...rows.slice(0, 50), { partition: 0, value: null }, ...rows.slice(50)]);
    {
      const shared = { kafkaGroup: `shared-${topic.name}` };
      await using first = await serveTopic(topic, directory, shared);
      await using second = await serveTopic(topic, directory, { ...shared, data: directory.at('second') });
      for (const service of [first, second]) {
        await service.untilReady();
        expect((await service.status()).counts.ignored['null value']).toBe(1);
      }
    }
    expect(dumpViews(directory.at('second'))).toEqual(dumpViews(directory.at('views')));
    await expectEqualToReplay(directory, rows);
  });

  it('are streamed: caught up at its end, and every snapshot from then on', async () => {
    const topic = await createTopic(address);
    const rowsOf = (text: string) => linesOf(parseLedger(text), 'scan').map((value) => ({ partition: 0, value }));
    await topic.send(rowsOf('00:01 =a : +a alice 10\n00:11 =b :\n00:21 =c :'));
    await using service = await serveTopic(topic, directory);
    await service.untilReady();
    using stream = await openStream((await service.get('/livez')).url, { owners: [partyOf('alice')] });
    await stream.until(() => stream.events.length === 2);
    expect(shortEvents(stream)).toEqual(['status caught_up', 'snapshot 0 00:20']);
    expect(stream.events[0]!.data).toMatchObject({ phase: 'caught_up', lag_seconds: 0, updates: 3, halted: null });
    await topic.send(rowsOf('00:25 =d : +b alice 1\n00:51 =e :'));
    await stream.until(() => withoutStatus(stream).at(-1) === 'snapshot 0 00:50');
    const snapshots = ['00:30', '00:40', '00:50'].map((time) => `snapshot 0 ${time}`);
    expect(withoutStatus(stream).slice(1)).toEqual(['owner alice 00:30', ...snapshots]);
  });
});

describe('a message that cannot be applied', () => {
  const rows = scanRows(12);
  const poisoned = [...rows.slice(0, 120), { partition: 0, value: '{"foo": 1}' }, ...rows.slice(120)];

  it('halts there, and after a drop the rest is applied', async () => {
    const topic = await createTopic(address);
    await topic.send(poisoned);
    for (let start = 0; start < 2; start++) {
      await using service = await serveTopic(topic, directory);
      await service.until('halted', async () => (await service.status()).phase === 'halted');
      const { halted, source } = await service.status();
      expect(halted).toMatchObject({ offset: 120, dead_letter: 1 });
      expect(source!.position).toEqual({ 0: 120 });
      expect((await service.readyz()).reasons.join()).toContain(`halted at topic ${topic.name}`);
    }
    await expectEqualToReplay(directory, rows.slice(0, 120));
    dropHalted(directory.at('views'), 1);
    {
      await using service = await serveTopic(topic, directory);
      await service.untilReady();
      expect((await service.status()).source?.position['0']).toBe(rows.length + 1);
    }
    await expectEqualToReplay(directory, rows);
  });

  it('is left out under quarantine, and readiness says so', async () => {
    const topic = await createTopic(address);
    await topic.send(poisoned);
    {
      await using service = await serveTopic(topic, directory, { onBadUpdate: 'quarantine' });
      await service.untilReady();
      expect((await service.readyz()).degraded).toHaveLength(1);
    }
    await expectEqualToReplay(directory, rows);
  });
});

describe('the first offsets of a topic', () => {
  const refusal = async (service: RunningService): Promise<string> => {
    await service.until('refused', async () => (await service.status()).phase === 'refused');
    return (await service.readyz()).reasons.join();
  };
  const readTo = async (
    topic: TestTopic,
    position: object,
    options: Readonly<Record<string, unknown>> = {},
  ): Promise<void> => {
    await using service = await serveTopic(topic, directory, options);
    await expect.poll(async () => (await service.status()).source?.position).toEqual(position);
  };

  it('are stored before anything is applied: messages that waited for another partition and are removed are missed', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    const waiting = parseLedger('01:00 @s1 : +a alice 100\n01:01 @s1 : +b alice 100\n01:02 @s1 : +c alice 100');
    await topic.send([...emptyRows(2, 0), ...waiting.map((item) => ({ partition: 1, value: scanLine(item) }))]);
    await readTo(topic, { 0: 2, 1: 0 });
    await topic.cut(1, 2);
    await using service = await serveTopic(topic, directory);
    expect(await refusal(service)).toMatch(/partition 1 .* continues at offset 0 .* removed everything before 2/);
  });

  it('of a partition that is new must be its very first', async () => {
    const topic = await createTopic(address);
    await topic.send(emptyRows(3));
    await readTo(topic, { 0: 3 });
    const addPartition = async (count: number): Promise<void> => {
      await topic.admin((admin) => admin.createPartitions({ topicPartitions: [{ topic: topic.name, count }] }));
      await topic.untilLed();
      await topic.send([1, 2].map((second) => ({ partition: count - 1, value: emptyUpdate(`s${count}`, second) })));
    };
    await addPartition(2);
    await readTo(topic, { 0: 3, 1: 2 }, { kafkaPartitionIdle: '1ms' });
    await addPartition(3);
    await topic.cut(2, 1);
    await using service = await serveTopic(topic, directory);
    expect(await refusal(service)).toMatch(/partition 2 .* is new to these views, and .* removed everything before 1/);
  });

  it('are shown where a new directory begins above 0: once in the log, and always in /status', async () => {
    const topic = await createTopic(address);
    await topic.send(emptyRows(10));
    await topic.cut(0, 4);
    const lacking = [
      'partition 0 began at offset 4 when these views first saw it: what was before is not in them, unless files had it',
    ];
    const late = `this topic begins late for these views: ${lacking}`;
    for (const warnings of [[{ level: 'warn', message: late }], []]) {
      await using service = await serveTopic(topic, directory);
      const shown = async (): Promise<unknown> => (await service.status()).source?.topic;
      await expect.poll(shown).toMatchObject({ lacking, partitions: [{ first_offset: 4, next_offset: 10 }] });
      expect(service.log.filter(({ message }) => message.startsWith(late.slice(0, 20)))).toEqual(warnings);
    }
  });
});

describe('a connection', () => {
  const untilRead = (service: RunningService): Promise<void> =>
    service.until('read', async () => (await service.status()).counts.updates === 3);
  it.each(['plain', 'scram-sha-256', 'scram-sha-512'])(
    'logs in with %s, over TLS, and keeps the password to itself',
    async (kafkaSaslMechanism) => {
      const topic = await createTopic(address);
      await topic.send(emptyRows(3));
      const kafkaSaslPasswordFile = directory.writeLines('password', [SASL_USER.password]);
      await using service = await serveTopic(topic, directory, {
        ...{ kafkaBrokers: addresses.saslTls, kafkaSsl: true, kafkaSslCa: certificates.ca },
        ...{ kafkaSaslMechanism, kafkaSaslUsername: SASL_USER.username, kafkaSaslPasswordFile },
      });
      await untilRead(service);
      expect(JSON.stringify([service.log, await service.status()])).not.toContain(SASL_USER.password);
    },
  );

  it('sends a client certificate where the broker requests one', async () => {
    const topic = await createTopic(address);
    await topic.send(emptyRows(3));
    const { ca: kafkaSslCa, clientCert: kafkaSslCert, clientKey: kafkaSslKey } = certificates;
    const tls = { kafkaBrokers: addresses.tls, kafkaSslCa, kafkaSslCert, kafkaSslKey };
    await using service = await serveTopic(topic, directory, tls);
    await untilRead(service);
  });

  it('waits for a topic that does not exist yet', async () => {
    const topic = await createTopic(address);
    await topic.admin((admin) => admin.deleteTopics({ topics: [topic.name] }));
    await using service = await serveTopic(topic, directory);
    const missing = `cannot read topic ${topic.name}: there is no topic ${topic.name} on this cluster`;
    await service.until('missing', async () => (await service.readyz()).reasons.includes(missing));
    await topic.admin((admin) => admin.createTopics({ topics: [{ topic: topic.name }], waitForLeaders: false }));
    await topic.untilLed();
    await topic.send(emptyRows(3));
    await untilRead(service);
  });
});
