import { randomUUID } from 'node:crypto';
import { expect, inject, it } from 'vitest';
import { createKafkaClient } from '../../src/feed/kafka/kafka-client.ts';
import { passesReopened } from '../../src/feed/kafka/kafka-errors.ts';
import { recordOf } from '../../src/feed/kafka/kafka-record.ts';
import { openLane } from '../../src/scale/partition-lane.ts';
import { keepingLogger } from '../support/kafka/reading.ts';
import { createTopic, plainConnection } from '../support/kafka/topic.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { FLAT_DSO } from '../support/scale/ledgers.ts';
import { TEN_MINUTES_US } from '../support/views/replayed.ts';

const address = inject('kafka').addresses.plain;

it('a partition that is taken over is stored by nobody else from the moment at which its position is read', async () => {
  const [input, flat, deadLetters] = await Promise.all([
    createTopic(address),
    createTopic(address),
    createTopic(address),
  ]);
  const settings = { flatTopic: flat.name, dso: FLAT_DSO, periodUs: TEN_MINUTES_US, migrationId: 0 };
  const options = {
    kafka: createKafkaClient(plainConnection(address), keepingLogger()),
    group: randomUUID(),
    topics: { input: input.name, flat: flat.name, deadLetters: deadLetters.name },
    settings,
  };
  const rules = {
    ...settings,
    recordTimeAheadMaxUs: 0,
    now: Date.now() * 1000,
    onBadUpdate: 'halt',
    dropped: new Set<number>(),
  } as const;
  await input.send([0, 1].map((second) => ({ partition: 0, value: emptyUpdate('s', second) })));
  const record = (offset: number) => recordOf(0, offset, Buffer.from(emptyUpdate('s', offset)));
  const first = await openLane(options, 0);
  await first.decode([record(0)], rules);
  const second = await openLane(options, 0);
  expect(second.position.next).toBe(1);
  const late = await first.decode([record(1)], rules).then(
    () => null,
    (error: unknown) => error,
  );
  expect(passesReopened(late)).toBe(true);
  await second.decode([record(1)], rules);
  for (const lane of [first, second]) await lane.close();
});
