import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, inject, it } from 'vitest';
import { runCommandLine } from '../../../../src/cli/command-line.ts';
import { kafkajs } from '../../../../src/feed/kafka/kafkajs.ts';
import { openPatientProducer } from '../../../../src/feed/kafka/topic-producer.ts';
import { withoutNotices } from '../../../support/kafka/notices.ts';
import { keepingLogger } from '../../../support/kafka/reading.ts';
import { createTopic, plainConnection, readSent, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { ledgerApiLine } from '../../../support/ledger/ledger-api-lines.ts';
import { oddLedger } from '../../../support/ledger/options.ts';
import { intoPartitions } from '../../../support/ledger/partitioned.ts';
import { randomLedger } from '../../../support/ledger/random-ledger.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';

const { addresses, certificates } = inject('kafka');
const address = addresses.plain;

const directory = freshDirectory();
const KEPT = ['retention.ms', 'retention.bytes'];

interface Run {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function produce(...args: string[]): Promise<Run> {
  const written = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr'): Writable =>
    new Writable({
      write(bytes, _, done) {
        written[name] += String(bytes);
        done();
      },
    });
  const terminal = { env: {}, stdout: into('stdout'), stderr: into('stderr') };
  const stopSignal = (): AbortSignal => new AbortController().signal;
  const exitCode = await runCommandLine(['produce', ...args], { ...terminal, stopSignal });
  return { exitCode, stdout: written.stdout, stderr: withoutNotices(written.stderr) };
}

async function recordsOf(topic: string): Promise<Map<number, (string | null)[]>> {
  const rows = await readSent(address, topic);
  return Map.groupBy(rows, (row) => row.partition)
    .entries()
    .reduce(
      (records, [partition, of]) =>
        records.set(
          partition,
          of.map((row) => row.value),
        ),
      new Map<number, (string | null)[]>(),
    );
}

const lines = (seed: number, synchronizers: number) => {
  const items = [...randomLedger(oddLedger(seed, { synchronizers, migrationId: 0 }))];
  return { items, rows: intoPartitions(items, 1, ledgerApiLine).map((row) => row.value) };
};

async function remove(topic: TestTopic): Promise<void> {
  await topic.admin((admin) => admin.deleteTopics({ topics: [topic.name] }));
}

describe('holdfast produce', () => {
  it('reads a named pipe once, into a topic of one partition', async () => {
    const { rows } = lines(3, 3);
    const pipe = directory.namedPipe('pipe');
    const topic = `t-${randomUUID()}`;
    const run = produce(pipe, '--kafka-brokers', address, '--kafka-topic', topic, '--create');
    await writeFile(pipe, `${rows.join('\n')}\n`);
    expect(await run).toMatchObject({
      exitCode: 0,
      stdout: `${rows.length} messages sent to topic ${topic}, 1 partition\n`,
    });
    expect((await recordsOf(topic)).get(0)).toEqual(rows);
  });

  it('creates a topic that keeps what is in it for ever', async () => {
    const made = `t-${randomUUID()}`;
    writeFileSync(directory.at('one.ndjson'), `${emptyUpdate('s', 1)}\n`);
    await produce(directory.at('one.ndjson'), '--kafka-brokers', address, '--kafka-topic', made, '--create');
    const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: made, configNames: KEPT }];
    const { admin } = await createTopic(address);
    const [found] = (await admin((client) => client.describeConfigs({ resources, includeSynonyms: false }))).resources;
    const values = found!.configEntries.map(({ configName, configValue }) => [configName, configValue]);
    expect(Object.fromEntries(values)).toEqual({ 'retention.ms': '-1', 'retention.bytes': '-1' });
  });

  it('sends nothing of files that are out of order', async () => {
    const [late, early] = [emptyUpdate('s', 60), emptyUpdate('s', 0)].map((line, i) =>
      directory.writeLines(`feed-${i}`, [line]),
    ) as [string, string];
    const topic = await createTopic(address);
    const run = await produce(late, early, '--kafka-brokers', address, '--kafka-topic', topic.name);
    expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`${early} is given after ${late}`) });
    expect((await recordsOf(topic.name)).size).toBe(0);
  });

  it('makes a topic with a partition for each synchronizer, and sends checkpoints to every one', async () => {
    const { items, rows } = lines(3, 3);
    const file = directory.writeLines('feed.ndjson', rows);
    const topic = `t-${randomUUID()}`;
    const run = await produce(file, '--kafka-brokers', address, '--kafka-topic', topic, '--create');
    expect(run).toEqual({
      exitCode: 0,
      stdout: `${rows.length} messages sent to topic ${topic}, 3 partitions\n`,
      stderr: '',
    });
    const expected = intoPartitions(items, 3, ledgerApiLine);
    const records = await recordsOf(topic);
    for (const [partition, values] of records) {
      expect(values).toEqual(expected.filter((row) => row.partition === partition).map((row) => row.value));
    }
  });

  it('keeps to the partitions that a topic already has for its synchronizers', async () => {
    const { items, rows } = lines(4, 3);
    // Not those that it would give them.
    const placed = (count: number) =>
      intoPartitions(items.slice(0, count), 3, ledgerApiLine).map(({ partition, value }) => {
        return { partition: (partition + 1) % 3, value };
      });
    const topic = await createTopic(address, { partitions: 3 });
    await topic.send(placed(Math.floor(items.length / 2)));
    const file = directory.writeLines('feed.ndjson', rows);
    const run = await produce(file, '--kafka-brokers', address, '--kafka-topic', topic.name);
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await readSent(address, topic.name)).toEqual(
      placed(items.length).toSorted((a, b) => a.partition - b.partition),
    );
  });

  it('refuses a synchronizer for which a topic has no partition left', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    const file = directory.writeLines('feed.ndjson', lines(5, 3).rows);
    const run = await produce(file, '--kafka-brokers', address, '--kafka-topic', topic.name);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toMatch(/has 2 partitions, each with a synchronizer of its own, and none for sync-/);
    await remove(topic);
  });

  it('keeps a synchronizer in its partition where another one opens that partition', async () => {
    const topic = await createTopic(address, { partitions: 3 });
    const opening = ['a', 'b'].map((name) => ({ partition: 0, value: emptyUpdate(name, 1) }));
    await topic.send(opening);
    const sent = ['b', 'c', 'a'].map((name) => emptyUpdate(name, 2));
    const file = directory.writeLines('feed.ndjson', [...opening.map((row) => row.value), ...sent]);
    expect((await produce(file, '--kafka-brokers', address, '--kafka-topic', topic.name)).exitCode).toBe(0);
    const [b, c, a] = sent;
    const first = [...opening.map((row) => row.value), b, a];
    const records = await recordsOf(topic.name);
    expect([records.get(0), records.get(1), records.get(2)]).toEqual([first, [c], undefined]);
  });

  it('sends messages for a partition that was created since it began', async () => {
    const topic = await createTopic(address);
    await using producer = await openPatientProducer({
      connection: plainConnection(address),
      topic: topic.name,
      create: null,
      logger: keepingLogger(),
      signal: new AbortController().signal,
    });
    await producer.send([{ partition: 0, value: Buffer.from('1') }]);
    await topic.admin((admin) => admin.createPartitions({ topicPartitions: [{ topic: topic.name, count: 2 }] }));
    const both = [0, 1].map((partition) => ({ partition, value: Buffer.from('2') }));
    await producer.send(both);
    const records = await recordsOf(topic.name);
    expect([records.get(0), records.get(1)]).toEqual([['1', '2'], ['2']]);
  });

  it('reads a topic whose brokers do not know yet that they lead it', async () => {
    // Most topics of so many partitions are in that state when they are said to be there.
    for (let attempt = 0; attempt < 5; attempt++) {
      await using producer = await openPatientProducer({
        connection: plainConnection(address),
        topic: `t-${randomUUID()}`,
        create: { partitions: 60 },
        logger: keepingLogger(),
        signal: new AbortController().signal,
      });
      expect(await producer.partitionsByName(String, { all: false })).toEqual(new Map());
    }
  });

  it('refuses a topic with a synchronizer in two partitions', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send([0, 1].map((partition) => ({ partition, value: emptyUpdate('a', 1) })));
    const file = directory.writeLines('feed.ndjson', [emptyUpdate('a', 1), emptyUpdate('a', 2)]);
    const run = await produce(file, '--kafka-brokers', address, '--kafka-topic', topic.name);
    expect(run).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('has messages of a in partitions 0 and 1'),
    });
  });

  it('says what could not be done where, in one line', async () => {
    const topic = await createTopic(address, { config: { 'max.message.bytes': '1000000' } });
    const large = directory.writeLines('large.ndjson', [
      `{"update": {"Later": {"value": "${'x'.repeat(2_000_000)}"}}}`,
    ]);
    const broken = directory.at('broken.ndjson.gz');
    writeFileSync(broken, gzipSync(lines(8, 1).rows.join('\n')).subarray(0, -20));
    const cases: [string[], string][] = [
      [[broken, '--kafka-brokers', address], `${broken}, `],
      [[large, '--kafka-brokers', address], 'max.message.bytes'],
      [
        [large, '--kafka-brokers', addresses.tls],
        `cannot write to topic ${topic.name}: Closed connection (broker ${addresses.tls})`,
      ],
    ];
    for (const [args, message] of cases) {
      const run = await produce(...args, '--kafka-topic', topic.name);
      expect(run).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(message) });
      expect(run.stderr.trim().split('\n')).toHaveLength(1);
    }
  });

  it('sends a large message, a null and what it cannot read, in order', async () => {
    const large = JSON.stringify({ update: { Later: { value: 'x'.repeat(3_000_000) } } });
    const sent = [lines(6, 1).rows[0]!, large, 'null', '{"not": "a feed"}', lines(6, 1).rows[1]!];
    const topic = `t-${randomUUID()}`;
    const file = directory.writeLines('feed.ndjson', sent);
    const run = await produce(file, '--kafka-brokers', address, '--kafka-topic', topic, '--create');
    expect(run.stderr).toBe('');
    expect((await recordsOf(topic)).get(0)).toEqual(sent.map((line) => (line === 'null' ? null : line)));
  });

  it('reads a compressed Scan page, and logs in with TLS and a password', async () => {
    const page = JSON.stringify({ transactions: [{ update_id: 'a' }, { update_id: 'b' }] });
    const [topic, file] = [`t-${randomUUID()}`, directory.at('page.json.gz')];
    writeFileSync(file, gzipSync(page));
    writeFileSync(directory.at('password'), 'alice-secret\n');
    const run = await produce(
      ...[file, '--kafka-brokers', addresses.saslTls, '--kafka-topic', topic, '--create', '--kafka-ssl'],
      ...['--kafka-ssl-ca', certificates.ca, '--kafka-sasl-mechanism', 'scram-sha-512'],
      ...['--kafka-sasl-username', 'alice', '--kafka-sasl-password-file', directory.at('password')],
    );
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await recordsOf(topic)).get(0)).toEqual(['{"update_id":"a"}', '{"update_id":"b"}']);
  });

  it('refuses what the caller can fix, in one line', async () => {
    const file = directory.writeLines('feed.ndjson', lines(7, 1).rows);
    const cases: [string[], RegExp][] = [
      [[file], /--kafka-brokers and --kafka-topic say where/],
      [
        [file, '--kafka-brokers', address, '--kafka-topic', 'none-such'],
        /there is no topic none-such .*--create creates it/,
      ],
      [[directory.at('none'), '--kafka-brokers', address, '--kafka-topic', 't'], /feed file .*none does not exist/],
    ];
    for (const [args, message] of cases) {
      const run = await produce(...args);
      expect(run.exitCode).toBe(2);
      expect(run.stderr).toMatch(message);
      expect(run.stderr.trim().split('\n')).toHaveLength(1);
    }
  });
});
