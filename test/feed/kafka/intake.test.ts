import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KafkaIntake } from '../../../src/feed/kafka/intake.ts';
import { MayPass } from '../../../src/feed/kafka/kafka-errors.ts';
import type { StartOffset } from '../../../src/feed/kafka/kafka-positions.ts';
import { emptyUpdate } from '../../support/ledger/empty-update.ts';

interface Made {
  readonly intake: KafkaIntake;
  /** What the views say is stored. */
  store(nextOffsets: Record<number, number>): void;
  /** Messages of these seconds, fetched as one batch, as Kafka would give them next. */
  receive(partition: number, ...seconds: number[]): void;
  /** The record times, in seconds, of what may be applied now. */
  take(): number[];
}

function make(starts: Record<number, StartOffset>, partitionIdleMs: number | null = null): Made {
  const stored = new Map<number, number>();
  const intake = new KafkaIntake({
    newestRecordTime: null,
    topic: 't',
    starts: new Map(Object.entries(starts).map(([partition, start]) => [Number(partition), start])),
    migrationId: 0,
    partitionIdleMs,
    stored,
  });
  return {
    intake,
    store(nextOffsets) {
      for (const [partition, nextOffset] of Object.entries(nextOffsets)) stored.set(Number(partition), nextOffset);
      intake.noteStored();
    },
    receive(partition, ...seconds) {
      const fetchedOffset = intake.nextFetch(partition)!;
      const messages = seconds.map((second, n) => {
        return { offset: `${fetchedOffset + n}`, value: Buffer.from(emptyUpdate(`s${partition}`, second)) };
      });
      intake.receive(partition, fetchedOffset, messages);
      intake.advance(partition, fetchedOffset + messages.length);
    },
    take: () => intake.take(100).map(({ bytes }) => secondOf(bytes!)),
  };
}

function secondOf(bytes: Uint8Array): number {
  const { record_time } = JSON.parse(Buffer.from(bytes).toString()) as { record_time: string };
  return (Date.parse(record_time) - Date.UTC(2025, 0, 1)) / 1000;
}

const START: StartOffset = { position: { firstOffset: 0, nextOffset: 0, sha256: null }, verify: false };
/** After five messages, of which the last is compared first. */
const behindFive = (last: string): StartOffset => {
  return { position: { firstOffset: 0, nextOffset: 5, sha256: hash(last) }, verify: true };
};
const held = (ends: Record<number, number>): Map<number, { low: number; high: number }> =>
  new Map(Object.entries(ends).map(([partition, high]) => [Number(partition), { low: 0, high }]));
const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

describe('what is read of a topic and not handed over', () => {
  it('is bounded: a partition that is far ahead is full until half of it was returned', () => {
    const { intake } = make({ 0: START, 1: START });
    const value = Buffer.alloc(1_000_000);
    for (let offset = 0; !intake.isFull(0); offset++) {
      intake.receive(0, offset, [{ offset: `${offset}`, value }]);
      intake.advance(0, offset + 1);
      expect(offset).toBeLessThan(20);
    }
    expect(intake.hasRoom(0)).toBe(false);
    expect(intake.take(100)).toEqual([]);
    expect([intake.isFull(1), intake.hasRoom(1)]).toEqual([false, true]);
    intake.receive(1, 0, [{ offset: '0', value: null }]);
    while (!intake.hasRoom(0)) expect(intake.take(1)).toHaveLength(1);
  });

  it('continues at the expected offset, and no other', () => {
    const { intake } = make({ 0: behindFive('any') });
    for (const fetchedOffset of [3, 5]) {
      expect(() => intake.receive(0, fetchedOffset, [])).toThrow(MayPass);
    }
  });

  it('begins with the message applied last, which is compared and not handed over again', () => {
    const same = make({ 0: behindFive(emptyUpdate('s0', 1)) });
    same.receive(0, 1);
    expect(same.intake.telemetry().newestRecordTime).toBe(Date.UTC(2025, 0, 1, 0, 0, 1) * 1000);
    same.receive(0, 2);
    expect(same.take()).toEqual([2]);
    const other = make({ 0: behindFive('another') });
    expect(() => other.receive(0, 1, 2)).toThrow('another message at offset 4');
  });

  it('is refused where no message is at the offset of the one applied last, whatever follows', () => {
    const followed = make({ 0: behindFive('gone') }).intake;
    const messages = [{ offset: '7', value: null }];
    expect(() => followed.receive(0, 4, messages)).toThrow(
      'has no message at offset 4, where these views applied their last one (the next one is at offset 7)',
    );
    const ended = make({ 0: behindFive('gone') }).intake;
    expect(() => ended.advance(0, 5)).toThrow('no message at offset 4, where these views applied their last one (only');
    expect(followed.take(10)).toEqual([]);
  });
});

describe('how far a topic is applied', () => {
  it('is caught up when all that was there at one time is stored, whatever came since', () => {
    const { intake, receive, store, take } = make({ 0: START, 1: START });
    receive(0, 1, 3);
    receive(1, 2);
    intake.noteBounds(1_000, intake.readTo(), held({ 0: 2, 1: 1 }));
    expect([take(), intake.telemetry().caughtUpAt]).toEqual([[1, 2], null]);
    store({ 0: 1, 1: 1 });
    expect(intake.telemetry().blocking).toEqual([expect.stringContaining('partition 1 is at its end')]);
    receive(1, 4);
    expect(take()).toEqual([3]);
    store({ 0: 2 });
    expect(intake.telemetry().caughtUpAt).toBe(1_000);
    expect(intake.telemetry().partitions).toMatchObject([
      { partition: 0, nextOffset: 2, endOffset: 2 },
      { partition: 1, nextOffset: 1, endOffset: 1 },
    ]);
  });

  it('is not known before the message applied last was compared', () => {
    const last = emptyUpdate('s0', 1);
    const { intake, receive, store } = make({ 0: behindFive(last) });
    store({ 0: 5 });
    intake.noteBounds(1_000, intake.readTo(), held({ 0: 5 }));
    expect([intake.telemetry().caughtUpAt, intake.telemetry().partitions]).toMatchObject([null, [{ nextOffset: 5 }]]);
    receive(0, 1);
    expect(intake.telemetry().caughtUpAt).toBe(1_000);
  });

  it('is not further than what is stored, where more was handed over before the session', () => {
    const last = emptyUpdate('s0', 1);
    const { intake, receive, store } = make({ 0: behindFive(last) });
    store({ 0: 2 });
    receive(0, 1);
    intake.noteBounds(1_000, intake.readTo(), held({ 0: 5 }));
    expect([intake.telemetry().caughtUpAt, intake.telemetry().partitions]).toMatchObject([null, [{ nextOffset: 2 }]]);
    store({ 0: 5 });
    expect([intake.telemetry().caughtUpAt, intake.telemetry().partitions]).toMatchObject([1_000, [{ nextOffset: 5 }]]);
  });

  it('stays known where the next message waits before anybody asks', () => {
    const { intake, receive, store, take } = make({ 0: START });
    receive(0, 1);
    intake.advance(0, 2);
    expect(take()).toEqual([1]);
    intake.noteBounds(1_000, intake.readTo(), held({ 0: 2 }));
    store({ 0: 1 });
    receive(0, 2);
    expect(intake.telemetry()).toMatchObject({ caughtUpAt: 1_000, partitions: [{ nextOffset: 1 }] });
  });

  it('is past the ends of transactions too, once nothing before them is on its way', () => {
    const { intake, receive, store, take } = make({ 0: START });
    receive(0, 1);
    intake.advance(0, 3);
    intake.noteBounds(1_000, intake.readTo(), held({ 0: 3 }));
    expect([take(), intake.telemetry().partitions]).toMatchObject([[1], [{ nextOffset: 0 }]]);
    store({ 0: 1 });
    expect([intake.telemetry().caughtUpAt, intake.telemetry().partitions]).toMatchObject([1_000, [{ nextOffset: 3 }]]);
  });

  it('passes a partition over when its end was reached long enough ago, as far as the broker said', () => {
    const { intake, receive, take } = make({ 0: START, 1: START }, 500);
    receive(0, 1);
    intake.noteBounds(1_000, intake.readTo(), held({ 0: 1, 1: 0 }));
    expect(take()).toEqual([]);
    intake.noteBounds(1_499, intake.readTo(), held({ 0: 1, 1: 0 }));
    expect(take()).toEqual([]);
    intake.noteBounds(1_500, intake.readTo(), held({ 0: 1, 1: 0 }));
    expect(take()).toEqual([1]);
    receive(1, 5);
    intake.noteBounds(9_000, intake.readTo(), held({ 0: 2, 1: 1 }));
    expect(take()).toEqual([]);
  });

  it('is not refused for what was written and read while the end of the topic was requested', () => {
    const { intake, receive } = make({ 0: START });
    receive(0, 1);
    const read = intake.readTo();
    receive(0, 2);
    expect(() => intake.noteBounds(1_000, read, held({ 0: 1 }))).not.toThrow();
    intake.noteBounds(2_000, intake.readTo(), held({ 0: 2 }));
    expect(intake.telemetry().partitions).toMatchObject([{ nextOffset: 0, endOffset: 2 }]);
  });

  it('is not refused when retention cuts up to the message that is due, and what was applied last is not compared yet', () => {
    const { intake } = make({ 0: behindFive('any') });
    const bounds = (low: number) => new Map([[0, { low, high: 9 }]]);
    expect(() => intake.noteBounds(1, intake.readTo(), bounds(5))).not.toThrow();
    expect(() => intake.noteBounds(1, intake.readTo(), bounds(6))).toThrow('removed everything before 6');
  });

  it('is refused when the topic moves from under it', () => {
    const { intake, receive } = make({ 0: START });
    receive(0, 1, 2);
    expect(() => intake.noteBounds(1, intake.readTo(), held({ 0: 1 }))).toThrow('created again');
    expect(() => intake.noteBounds(1, intake.readTo(), new Map([[0, { low: 3, high: 9 }]]))).toThrow(
      'removed everything before 3',
    );
  });
});
