import { it } from 'vitest';
import { startBroker } from '../../../support/kafka/broker.ts';
import { expectEqualToReplay, scanRows } from '../../../support/kafka/rows.ts';
import { serveTopic } from '../../../support/kafka/service.ts';
import { createTopic } from '../../../support/kafka/topic.ts';
import { temporaryDirectory } from '../../../support/program/temporary-directory.ts';

it('a service reads a topic of a broker of Kafka 3.9', async () => {
  using directory = temporaryDirectory();
  await using broker = await startBroker({ version: '3.9.1', heapMb: 256 });
  const topic = await createTopic(broker.addresses.plain);
  const rows = scanRows(31);
  await topic.sendTransaction(rows, 'commit');
  {
    await using service = await serveTopic(topic, directory);
    await service.untilReady();
  }
  await expectEqualToReplay(directory, rows);
});
