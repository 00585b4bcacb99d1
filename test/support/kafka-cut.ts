import { createKafkaClient } from '../../src/feed/kafka-client.ts';
import { keepingLogger } from './kafka-reading.ts';
import { plainConnection } from './kafka-topic.ts';

/** Removes what a topic of one partition holds before an offset; a program, for who must wait for it without an await. */
const [address, topic, offset] = process.argv.slice(2);
const admin = createKafkaClient(plainConnection(address!), keepingLogger()).admin();
await admin.connect();
await admin.fetchTopicOffsets(topic!);
await admin.deleteTopicRecords({ topic: topic!, partitions: [{ partition: 0, offset: offset! }] });
await admin.disconnect();
