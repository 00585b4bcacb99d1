import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, inject, it } from 'vitest';
import { kafkajs } from '../../../../src/feed/kafka/kafkajs.ts';
import { withoutNotices } from '../../../support/kafka/notices.ts';
import { createTopic, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { ledgerApiLine } from '../../../support/ledger/ledger-api-lines.ts';
import { oddLedger } from '../../../support/ledger/options.ts';
import { intoPartitions } from '../../../support/ledger/partitioned.ts';
import { randomLedger } from '../../../support/ledger/random-ledger.ts';
import { type Ended, holdfast } from '../../../support/program/command.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';

const { addresses, certificates } = inject('kafka');
const address = addresses.plain;
const directory = freshDirectory();

async function produce(file: string, topic: string, ...more: string[]): Promise<Ended> {
  const ended = await holdfast('produce', file, '--kafka-brokers', address, '--kafka-topic', topic, ...more);
  return { ...ended, stderr: withoutNotices(ended.stderr) };
}
const produced = ({ name }: TestTopic, lines: readonly string[]): Promise<Ended> =>
  produce(directory.writeLines('feed.ndjson', lines), name);

async function valuesIn(topic: string, partition = 0): Promise<(string | null)[]> {
  const rows = await readTopic(address, topic);
  return rows.filter((row) => row.partition === partition).map(({ value }) => value);
}

const lines = (seed: number, synchronizers: number) => {
  const items = [...randomLedger(oddLedger(seed, { synchronizers, migrationId: 0 }))];
  return { items, rows: intoPartitions(items, 1, ledgerApiLine).map((row) => row.value) };
};
const updates = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => emptyUpdate('s', from + n));

describe('produce into a new topic', () => {
  it('reads a named pipe once, and makes one partition that keeps its messages for ever', async () => {
    const { rows } = lines(3, 3);
    const pipe = directory.namedPipe('pipe');
    const topic = `t-${randomUUID()}`;
    const run = produce(pipe, topic, '--create');
    await writeFile(pipe, `${rows.join('\n')}\n`);
    const stdout = `${rows.length} messages sent to topic ${topic}, 1 partition\n`;
    expect(await run).toEqual({ code: 0, stdout, stderr: '' });
    expect(await valuesIn(topic)).toEqual(rows);
    const configNames = ['retention.ms', 'retention.bytes'];
    const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames }];
    const { admin } = await createTopic(address);
    const [found] = (await admin((client) => client.describeConfigs({ resources, includeSynonyms: false }))).resources;
    expect(found!.configEntries.map(({ configValue }) => configValue)).toEqual(['-1', '-1']);
  });

  it('makes a partition for each synchronizer, and sends checkpoints to every one', async () => {
    const { items, rows } = lines(3, 3);
    const topic = `t-${randomUUID()}`;
    const run = await produce(directory.writeLines('feed.ndjson', rows), topic, '--create');
    expect(run).toMatchObject({ code: 0, stdout: `${rows.length} messages sent to topic ${topic}, 3 partitions\n` });
    const sent = intoPartitions(items, 3, ledgerApiLine).map(({ partition, value }) => ({ partition, value }));
    expect(await readTopic(address, topic)).toEqual(sent.toSorted((a, b) => a.partition - b.partition));
  });

  it('sends a large message, a null and what it cannot read, in order', async () => {
    const large = JSON.stringify({ update: { Later: { value: 'x'.repeat(3_000_000) } } });
    const sent = [lines(6, 1).rows[0]!, large, 'null', '{"not": "a feed"}', lines(6, 1).rows[1]!];
    const topic = `t-${randomUUID()}`;
    const run = await produce(directory.writeLines('feed.ndjson', sent), topic, '--create');
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(await valuesIn(topic)).toEqual(sent.map((line) => (line === 'null' ? null : line)));
  });

  it('reads a compressed Scan page, and logs in with TLS and a password', async () => {
    const page = JSON.stringify({ transactions: [{ update_id: 'a' }, { update_id: 'b' }] });
    const [topic, file] = [`t-${randomUUID()}`, directory.at('page.json.gz')];
    writeFileSync(file, gzipSync(page));
    writeFileSync(directory.at('password'), 'alice-secret\n');
    const run = await holdfast(
      ...['produce', file, '--kafka-brokers', addresses.saslTls, '--kafka-topic', topic, '--create', '--kafka-ssl'],
      ...['--kafka-ssl-ca', certificates.ca, '--kafka-sasl-mechanism', 'scram-sha-512'],
      ...['--kafka-sasl-username', 'alice', '--kafka-sasl-password-file', directory.at('password')],
    );
    expect(run).toMatchObject({ code: 0 });
    expect(await valuesIn(topic)).toEqual(['{"update_id":"a"}', '{"update_id":"b"}']);
  });
});

/** Each case of its end: test/cli/topic-sender.test.ts. */
describe('produce into a topic that has messages', () => {
  it('finds the end behind messages that were aborted', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(10, 20).map((value) => ({ partition: 0, value })));
    await topic.sendTransaction(
      Array.from({ length: 1_500 }, () => ({ partition: 0, value: '{"not": "a feed"}' })),
      'abort',
    );
    const stdout = `1 message sent to topic ${topic.name}, 1 partition; 20 left out, up to where it ended\n`;
    expect(await produced(topic, updates(0, 21))).toMatchObject({ code: 0, stdout });
    expect(await valuesIn(topic.name)).toEqual(updates(10, 21));
  });

  it('keeps to the partitions of its synchronizers, also of one that is not among the last messages, and looks at each by itself', async () => {
    const topic = await createTopic(address, { partitions: 3 });
    const opening = [
      ...['a', 'b'].map((name) => emptyUpdate(name, 1)),
      ...Array.from({ length: 1_100 }, (_, n) => emptyUpdate('b', n + 2)),
    ];
    await topic.send(opening.map((value) => ({ partition: 1, value })));
    const sent = [emptyUpdate('b', 1_200), emptyUpdate('c', 2), emptyUpdate('a', 1_201)];
    expect(await produced(topic, [...opening, ...sent])).toMatchObject({ code: 0 });
    expect(await produced(topic, [emptyUpdate('c', 2), emptyUpdate('c', 3)])).toMatchObject({ code: 0 });
    expect(await valuesIn(topic.name, 0)).toEqual([sent[1], emptyUpdate('c', 3)]);
    expect(await valuesIn(topic.name, 1)).toEqual([...opening, sent[0], sent[2]]);
  });
});

describe('produce refuses', () => {
  const two = [0, 1].map((partition) => ({ partition, value: emptyUpdate('a', 1) }));
  it.each<{ name: string; prepare: (topic: TestTopic) => Promise<void>; text: string }>([
    {
      name: 'a topic with a synchronizer in two partitions',
      prepare: (topic) => topic.send(two),
      text: 'has messages of a in partitions 0 and 1',
    },
    {
      name: 'a topic of which a partition has lost all by its retention',
      prepare: async (topic) => {
        await topic.send(two);
        await topic.cut(1, 1);
      },
      text: 'no longer has what was in partition 1',
    },
  ])('$name', async ({ prepare, text }) => {
    const topic = await createTopic(address, { partitions: 2 });
    await prepare(topic);
    const before = await readTopic(address, topic.name);
    const { code, stderr } = await produced(topic, [emptyUpdate('a', 2)]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(await readTopic(address, topic.name)).toEqual(before);
  });

  it('files out of order, and what the caller can fix, in one line', async () => {
    const [late, early] = [60, 0].map((second) =>
      directory.writeLines(`feed-${second}`, [emptyUpdate('s', second)]),
    ) as [string, string];
    const cases: [string[], string][] = [
      [[late, early, '--kafka-brokers', address, '--kafka-topic', 't'], `${early} is given after ${late}`],
      [[early], '--kafka-brokers and --kafka-topic say where'],
      [
        [early, '--kafka-brokers', address, '--kafka-topic', 'none-such'],
        `there is no topic none-such on ${address}; --create creates it`,
      ],
      [[directory.at('none'), '--kafka-brokers', address, '--kafka-topic', 't'], 'none does not exist'],
    ];
    for (const [args, message] of cases) {
      const run = await holdfast('produce', ...args);
      expect([run.code, run.stderr]).toEqual([2, expect.stringContaining(message)]);
      // On a busy machine there are also log lines of brokers that are waited for.
      expect(run.stderr.match(/^holdfast: /gm)).toHaveLength(1);
    }
  });

  it('says what could not be done where, and how much was sent before', async () => {
    const topic = await createTopic(address, { config: { 'max.message.bytes': '1000000' } });
    const large = directory.writeLines('large.ndjson', [
      `{"update": {"Later": {"value": "${'x'.repeat(2_000_000)}"}}}`,
    ]);
    const broken = directory.at('broken.ndjson.gz');
    writeFileSync(broken, gzipSync(updates(0, 40_000).join('\n')).subarray(0, -2_000));
    const cases: [string, string, RegExp][] = [
      [large, address, /max\.message\.bytes/],
      [
        large,
        addresses.tls,
        new RegExp(`cannot write to topic ${topic.name}: Closed connection \\(broker ${addresses.tls}`),
      ],
      [broken, address, new RegExp(`${broken}, .*; \\d+ messages sent before; called again with the same files`)],
    ];
    for (const [file, broker, message] of cases) {
      const run = await holdfast('produce', file, '--kafka-brokers', broker, '--kafka-topic', topic.name);
      expect([run.code, run.stderr]).toEqual([1, expect.stringMatching(message)]);
      // On a busy machine there are also log lines of brokers that are waited for.
      expect(run.stderr.match(/^holdfast: /gm)).toHaveLength(1);
    }
    expect((await valuesIn(topic.name)).length).toBeGreaterThan(0);
  });
});
