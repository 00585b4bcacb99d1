import { expect, inject, it } from 'vitest';
import { openStream, shortEvents, withoutStatus } from '../../../support/http/event-stream.ts';
import { serveTopic } from '../../../support/kafka/service.ts';
import { createTopic } from '../../../support/kafka/topic.ts';
import { parseLedger, partyOf } from '../../../support/ledger/parse-ledger.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { linesOf } from '../../../support/views/replayed.ts';

const address = inject('kafka').addresses.plain;
const directory = freshDirectory();
const rows = (text: string) => linesOf(parseLedger(text), 'scan').map((value) => ({ partition: 0, value }));

it('a stream of a topic has caught up at its end, and is sent every snapshot from then on', async () => {
  const topic = await createTopic(address);
  await topic.send(rows('00:01 =a : +a alice 10\n00:11 =b :\n00:21 =c :'));
  await using service = await serveTopic(topic, directory);
  await service.untilReady();
  const { url } = await service.get('/livez');
  using stream = await openStream(url, { owners: [partyOf('alice')] });
  await stream.until(() => stream.events.length === 2);
  expect(shortEvents(stream)).toEqual(['status caught_up', 'snapshot 0 00:20']);
  expect(stream.events[0]!.data).toMatchObject({ phase: 'caught_up', lag_seconds: 0, updates: 3, halted: null });
  await topic.send(rows('00:25 =d : +b alice 1\n00:51 =e :'));
  await stream.until(() => withoutStatus(stream).at(-1) === 'snapshot 0 00:50');
  expect(withoutStatus(stream).slice(1)).toEqual([
    'owner alice 00:30',
    'snapshot 0 00:30',
    'snapshot 0 00:40',
    'snapshot 0 00:50',
  ]);
});
