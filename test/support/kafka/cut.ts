import { workerData } from 'node:worker_threads';
import { createKafkaClient } from '../../../src/feed/kafka/kafka-client.ts';
import type { CutTask } from './cutter.ts';
import { keepingLogger } from './reading.ts';
import { plainConnection } from './topic.ts';

/** The thread of `startCutter`. */
const { address, topic, offset, ready, asked, done } = workerData as CutTask;
const admin = createKafkaClient(plainConnection(address), keepingLogger()).admin();
await admin.connect();
await admin.fetchTopicOffsets(topic);
set(ready);
await Atomics.waitAsync(asked, 0, 0).value;
await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(offset) }] });
set(done);
await admin.disconnect();

function set(flag: Int32Array): void {
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
}
