import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBroker } from '../test/support/kafka/broker.ts';
import { type DemoStop, runDemo } from './demo/run.ts';
import { say, startService } from './demo/service.ts';
import { FIXTURE, LINES_FIRST, run, showNext, topic, writeStory } from './demo/story.ts';

/** What docker-compose.yml shows, without Docker: a broker from its jars, a feed sent to it, and a summary that moves. */
async function demonstrate(folder: string, stopping: DemoStop): Promise<void> {
  const { owners, first } = writeStory(folder);

  say('1. A Kafka broker from its jars (fetched with Maven the first time)');
  await using broker = await startBroker();
  stopping.check();
  const address = broker.addresses.plain;
  console.log(`   ${address}`);
  say(`2. holdfast produce: the first ${LINES_FIRST} updates of ${FIXTURE}`);
  run('produce', first, ...topic(address), '--create');
  say('3. holdfast serve, reading the topic');
  stopping.check();
  await using service = await startService(['--data', join(folder, 'data'), ...topic(address)], stopping);
  const { url } = service;
  const shown = await showNext(url, owners, null);
  say('4. The whole feed is given: what the topic has of it is left out');
  run('produce', FIXTURE, ...topic(address));
  await showNext(url, owners, shown);
  // /status hears of the topic's end once a second.
  await sleep(1_500);
  const status = (await (await fetch(`${url}/status`)).json()) as { source: object };
  say(`5. ${url}/status:\n${JSON.stringify(status.source, null, 2)}`);
}

await runDemo(demonstrate);
