import { describe, expect, inject, it } from 'vitest';
import { TOPIC_KIND } from '../../../../src/feed/kafka/kafka-kind.ts';
import { SESSION_GUARDS, type SessionGuards } from '../../../../src/feed/kafka/kafka-session.ts';
import { FeedRefused } from '../../../../src/feed/source.ts';
import { PositionMoved, positionRow } from '../../../../src/views/write/positions.ts';
import { startCutter } from '../../../support/kafka/cutter.ts';
import { type Guards, openIngest } from '../../../support/kafka/ingest.ts';
import { createTopic, type Row, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { oddLedger } from '../../../support/ledger/options.ts';
import { intoPartitions } from '../../../support/ledger/partitioned.ts';
import { randomLedger } from '../../../support/ledger/random-ledger.ts';
import { scanLine } from '../../../support/ledger/scan-lines.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { replayInto } from '../../../support/views/replayed.ts';
import { dumpViews, storedOffset } from '../../../support/views/views-dump.ts';

const address = inject('kafka').addresses.plain;
const WAIT_MAX_MS = 60_000;
/** For what does not come. */
const IN_VAIN_MS = 8_000;

const directory = freshDirectory();

const rows: Row[] = intoPartitions(randomLedger(oddLedger(21, { synchronizers: 1, updates: 100 })), 1, scanLine);
const place = (topic: TestTopic) => ({ data: directory.at('views'), address, topic: topic.name });

async function expectEqualToReplay(of: readonly Row[]): Promise<void> {
  const lines = of.map((row) => row.value!);
  await replayInto(directory.at('expected'), [directory.writeLines('expected.ndjson', lines)]);
  expect(dumpViews(directory.at('views'))).toEqual(dumpViews(directory.at('expected')));
}

/** What only moves time collides with no row: nothing but the position says that it was written before. */
const opening = Array.from({ length: 5 }, (_, second) => ({ partition: 0, value: emptyUpdate('s', second) }));

/** A writer that was overtaken by another one, and does not know it, writes what it had in memory. */
async function zombieWrites(guards: Guards): Promise<void> {
  const topic = await createTopic(address);
  await topic.send(opening);
  await using zombie = openIngest({ ...place(topic), group: `zombie-${topic.name}` }, guards);
  zombie.writer.beginSource({ name: 'zombie', kind: TOPIC_KIND });
  // A session that fails is followed by another one, which begins anew.
  let next = await zombie.feed.next(WAIT_MAX_MS);
  for (; typeof next === 'object' && 'identity' in next; next = await zombie.feed.next(WAIT_MAX_MS)) {
    zombie.writer.followSource(next);
  }
  if (typeof next === 'string') throw new Error(`no chunk came: ${next}`);
  const chunk = next;
  await topic.send(rows);
  {
    await using next = openIngest(place(topic), guards);
    await next.until(opening.length + rows.length, WAIT_MAX_MS);
  }
  let refused: unknown = null;
  try {
    zombie.writer.apply(chunk);
    zombie.writer.commit();
  } catch (error) {
    refused = error;
  }
  await expectEqualToReplay([...opening, ...rows]);
  expect(refused).toBeInstanceOf(PositionMoved);
}

/** Kafka remembers another position than the views, as it may after any crash. */
async function resumesFromTheViews(guards: Guards, waitMaxMs = WAIT_MAX_MS): Promise<void> {
  const topic = await createTopic(address);
  await topic.send(rows.slice(0, 60));
  const group = `g-${topic.name}`;
  {
    await using first = openIngest({ ...place(topic), group }, guards);
    await first.until(60, WAIT_MAX_MS);
  }
  await topic.send(rows.slice(60));
  await topic.admin((admin) =>
    admin.setOffsets({ groupId: group, topic: topic.name, partitions: [{ partition: 0, offset: '90' }] }),
  );
  await using second = openIngest({ ...place(topic), group }, guards);
  await second.until(rows.length, waitMaxMs);
  await expectEqualToReplay(rows);
}

/**
 * Retention passes the position between the first look at the topic and the first fetch; kafkajs then continues elsewhere.
 * Whether that is refused, and nothing after the gap applied.
 */
async function isRefused(
  { attempt, applied }: { attempt: number; applied: number },
  fetchedOffset: SessionGuards['fetchedOffset'],
): Promise<boolean> {
  const topic = await createTopic(address);
  const at = { ...place(topic), data: directory.at(`views-${attempt}`) };
  const quiet = Array.from({ length: 100 }, (_, second) => ({ partition: 0, value: emptyUpdate('s', second) }));
  if (applied > 0) {
    await topic.send(quiet.slice(0, applied));
    await using first = openIngest(at);
    await first.until(applied, WAIT_MAX_MS);
  }
  await topic.send(quiet.slice(applied));
  await using cutter = await startCutter({ address, topic: topic.name, offset: 80 });
  const seek: SessionGuards['seek'] = (consumer, to) => {
    cutter.cut();
    SESSION_GUARDS.seek(consumer, to);
  };
  await using second = openIngest(at, { session: { seek, fetchedOffset } });
  const failure = await second.until(100, WAIT_MAX_MS).then(
    () => null,
    (error: unknown) => error,
  );
  return failure instanceof FeedRefused && second.writer.storedSource.lanes.get('0')?.cursor === String(applied);
}

const withoutSeek = { seek: () => {}, fetchedOffset: SESSION_GUARDS.fetchedOffset };
const withoutSeekAndOffset = { seek: () => {}, fetchedOffset: () => null };

describe('a writer that was replaced', () => {
  it('writes nothing', () => zombieWrites({}));

  it('would spoil the views without compare-and-set', async () => {
    const blind: Guards = {
      positions: (db) => {
        const save = db.prepare('INSERT OR REPLACE INTO position VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
        return (partitions) => {
          for (const [partition, state] of partitions) save.run(positionRow(partition, state));
        };
      },
    };
    await expect(zombieWrites(blind)).rejects.toThrow('to deeply equal');
  });
});

describe('a consumer that starts again', () => {
  it('continues from the views, whatever Kafka remembers', () => resumesFromTheViews({}));

  it('would not without the seek', async () => {
    await expect(resumesFromTheViews({ session: withoutSeek }, IN_VAIN_MS)).rejects.toThrow('was not reached');
    expect(storedOffset(directory.at('views'), '0')).toBe(60);
  });

  it('would be refused without the seek and the look at the fetched offset: another message is where the last one was', async () => {
    const resumed = resumesFromTheViews({ session: withoutSeekAndOffset });
    await expect(resumed).rejects.toThrow(FeedRefused);
    await expect(resumed).rejects.toThrow('has no message at offset 59');
    expect(storedOffset(directory.at('views'), '0')).toBe(60);
  });

  it.each([50, 0])('refuses an offset that is gone, with %i messages applied before', async (applied) => {
    expect(await isRefused({ attempt: 0, applied }, SESSION_GUARDS.fetchedOffset)).toBe(true);
  });

  it('refuses it also where only the end of a transaction was after the last message', async () => {
    const topic = await createTopic(address);
    await topic.sendTransaction(opening, 'commit');
    {
      await using first = openIngest(place(topic));
      await first.until(opening.length, WAIT_MAX_MS);
    }
    await topic.cut(0, opening.length + 1);
    await using second = openIngest(place(topic));
    await expect(second.until(opening.length, WAIT_MAX_MS)).rejects.toThrow('has removed everything before 6');
  });

  it('would jump over what is gone without the look at the fetched offset', async () => {
    // Its regular look at the topic may come in between, and then that refuses.
    // With messages applied before, the last of them would be missed.
    for (let attempt = 0; await isRefused({ attempt, applied: 0 }, () => null); attempt++)
      expect(attempt).toBeLessThan(9);
  });
});
