import { describe, expect, inject, it } from 'vitest';
import { SESSION_GUARDS } from '../../../../src/feed/kafka/kafka-session.ts';
import { startCutter } from '../../../support/kafka/cutter.ts';
import { openIngest } from '../../../support/kafka/ingest.ts';
import { createTopic, type Row, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';

const address = inject('kafka').addresses.plain;
const WAIT_MAX_MS = 60_000;

const directory = freshDirectory();

const updates = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, n) => ({ partition: 0, value: emptyUpdate('s', from + n) }));
const place = (topic: TestTopic) => ({ data: directory.at('views'), address, topic: topic.name });

async function applyTo(topic: TestTopic, nextOffset: number): Promise<void> {
  await using ingest = openIngest(place(topic));
  await ingest.until(nextOffset, WAIT_MAX_MS);
}

/** Of the next start. */
async function refusal(topic: TestTopic): Promise<string> {
  await using ingest = openIngest(place(topic));
  return await ingest.until(Number.POSITIVE_INFINITY, WAIT_MAX_MS).then(
    () => 'went on',
    (error: unknown) => String(error),
  );
}

/** Recreates a topic with a transaction of four messages, of which the end is at offset 4. */
async function recreateWithTransaction(topic: TestTopic): Promise<void> {
  await topic.recreate();
  await topic.sendTransaction(updates(50, 54), 'commit');
}

describe('the topic has no message where the last applied one was', () => {
  it('but the end of a transaction, with messages after it: it is refused', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(0, 5));
    await applyTo(topic, 5);
    await recreateWithTransaction(topic);
    await topic.send(updates(60, 65));
    expect(await refusal(topic)).toMatch(
      /FeedRefused: partition 0 of topic \S+ has no message at offset 4, .*the next one is at offset 5.*created again/,
    );
  });

  it('but the end of a transaction, and nothing after it: it is refused', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(0, 5));
    await applyTo(topic, 5);
    await recreateWithTransaction(topic);
    expect(await refusal(topic)).toMatch(/FeedRefused: .* has no message at offset 4, .*created again/);
  });

  it('but one that was aborted: it is refused', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(0, 5));
    await applyTo(topic, 5);
    await topic.recreate();
    await topic.sendTransaction(updates(50, 60), 'abort');
    await topic.send(updates(60, 65));
    expect(await refusal(topic)).toMatch(/FeedRefused: .* has no message at offset 4, .*created again/);
  });
});

describe('allowed changes of a topic', () => {
  it('where a transaction ends after the last applied message, and others follow', async () => {
    const topic = await createTopic(address);
    await topic.sendTransaction(updates(0, 5), 'commit');
    await applyTo(topic, 5);
    await topic.sendTransaction(updates(5, 8), 'abort');
    await topic.sendTransaction(updates(8, 10), 'commit');
    // Offsets 5 and 9 are ends, 6 to 8 were aborted.
    await applyTo(topic, 12);
    await topic.send(updates(10, 11));
    await applyTo(topic, 14);
  });

  it('where retention cut to the very end of what was applied, and after it is the end of a transaction', async () => {
    const topic = await createTopic(address);
    await topic.sendTransaction(updates(0, 5), 'commit');
    await applyTo(topic, 5);
    await topic.cut(0, 5);
    await topic.send(updates(5, 10));
    await applyTo(topic, 11);
  });

  it('where retention cuts to the very end of what was applied between the first look and the first fetch', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(0, 50));
    await applyTo(topic, 50);
    await topic.send(updates(50, 100));
    await using cutter = await startCutter({ address, topic: topic.name, offset: 50 });
    let isCut = false;
    const seek: typeof SESSION_GUARDS.seek = (consumer, to) => {
      if (!isCut) cutter.cut();
      isCut = true;
      SESSION_GUARDS.seek(consumer, to);
    };
    const session = { ...SESSION_GUARDS, seek };
    await using ingest = openIngest(place(topic), { session });
    await ingest.until(100, WAIT_MAX_MS);
  });
});
