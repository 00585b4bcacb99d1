import { createKafkaClient } from '../../../src/feed/kafka/kafka-client.ts';
import { keepingLogger } from './reading.ts';
import { plainConnection } from './topic.ts';

/** A process that removes messages of a topic of one partition before an offset, for callers that cannot await. */
const [, , address = '', topic = '', offset = ''] = process.argv;
const admin = createKafkaClient(plainConnection(address), keepingLogger()).admin();
await admin.connect();
await admin.fetchTopicOffsets(topic);
await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset }] });
await admin.disconnect();
