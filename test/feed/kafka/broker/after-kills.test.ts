import { randomUUID } from 'node:crypto';
import { expect, inject, it } from 'vitest';
import { createKafkaClient } from '../../../../src/feed/kafka/kafka-client.ts';
import { startConsumer } from '../../../support/kafka/consumer-process.ts';
import { keepingLogger } from '../../../support/kafka/reading.ts';
import { emptyRows } from '../../../support/kafka/rows.ts';
import { topicOptions } from '../../../support/kafka/service.ts';
import { createTopic, plainConnection, type TestTopic } from '../../../support/kafka/topic.ts';
import { temporaryDirectory } from '../../../support/program/temporary-directory.ts';

const address = inject('kafka').addresses.plain;

const KILLS = 3;
/** So long that no test sees its end. */
const SESSION_MS = 300_000;

/** A member of a group that stays in it: to the others it is as one that was killed. */
async function joinForever(topic: TestTopic, groupId: string): Promise<AsyncDisposable> {
  const kafka = createKafkaClient(plainConnection(address), keepingLogger());
  const member = kafka.consumer({ groupId, sessionTimeout: SESSION_MS });
  await member.connect();
  await member.subscribe({ topics: [topic.name] });
  const joined = new Promise((resolve) => member.on('consumer.group_join', resolve));
  await member.run({ autoCommit: false, eachBatch: async () => {} });
  await joined;
  return { [Symbol.asyncDispose]: () => member.disconnect() };
}

it.each([0, 1])('a service reads on after kills in a row, with %i other members in its group', async (members) => {
  using directory = temporaryDirectory();
  const topic = await createTopic(address);
  const groupId = `g-${randomUUID()}`;
  const membersNow = (): Promise<readonly { memberId: string }[]> =>
    topic.admin(async (admin) => (await admin.describeGroups([groupId])).groups[0]!.members);
  await using others = new AsyncDisposableStack();
  if (members > 0) others.use(await joinForever(topic, groupId));
  const before = await membersNow();
  expect(before).toHaveLength(members);
  for (let kill = 1; kill <= KILLS; kill++) {
    const consumer = await startConsumer({ ...topicOptions(topic, directory), kafkaGroup: groupId });
    await topic.send(emptyRows(1, 0, kill));
    await expect.poll(async () => (await consumer.status()).source?.position).toEqual({ 0: kill });
    // None has joined, so the next one waits for none.
    expect(await membersNow()).toEqual(before);
    // The broker refuses it while the group has members.
    const committed = members > 0 ? '-1' : String(kill);
    await expect
      .poll(() => topic.admin((admin) => admin.fetchOffsets({ groupId, topics: [topic.name] })))
      .toMatchObject([{ partitions: [{ partition: 0, offset: committed }] }]);
    await consumer.end('SIGKILL');
  }
});
