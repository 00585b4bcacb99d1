import { expect, it } from 'vitest';
import { describeKafkaError, isTransient } from '../../../src/feed/kafka/errors.ts';
import { kafkajs } from '../../../src/feed/kafka/kafkajs.ts';

it('waits where no broker says who coordinates, although kafkajs takes that for final', () => {
  const last = Object.assign(new kafkajs.KafkaJSGroupCoordinatorNotFound(), {
    message: 'Failed to find group coordinator',
  });
  const error = new Error('cannot write to topic updates', { cause: last });
  expect(last.retriable).toBe(false);
  expect(isTransient(error)).toBe(true);
  expect(describeKafkaError(error, 'updates')).toMatch(
    /^Failed to find group coordinator: there is none while brokers start, .*transaction\.state\.log\.replication\.factor$/,
  );
});
