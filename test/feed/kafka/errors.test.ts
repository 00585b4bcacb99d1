import { expect, it } from 'vitest';
import { describeKafkaError, isTransient } from '../../../src/feed/kafka/kafka-errors.ts';
import { kafkajs } from '../../../src/feed/kafka/kafkajs.ts';

it('waits where no broker says who coordinates, although kafkajs takes that for final', () => {
  // Their types lack its arguments.
  const last = Reflect.construct(kafkajs.KafkaJSGroupCoordinatorNotFound, [
    'Failed to find group coordinator',
  ]) as Error;
  const error = new Error('cannot write to topic updates', { cause: last });
  expect(last).toMatchObject({ retriable: false });
  expect(isTransient(error)).toBe(true);
  expect(describeKafkaError(error, 'updates')).toMatch(
    /^Failed to find group coordinator: there is none while brokers start, .*transaction\.state\.log\.replication\.factor$/,
  );
});
