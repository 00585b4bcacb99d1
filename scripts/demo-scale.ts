import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBroker } from '../test/support/kafka/broker.ts';
import { startFlink } from '../test/support/scale/cluster.ts';
import { startPostgres } from '../test/support/scale/postgres.ts';
import { readCommitted } from '../test/support/scale/read-committed.ts';
import { type DemoStop, runDemo } from './demo/run.ts';
import { env, root, say, startService } from './demo/service.ts';
import { FIXTURE, LINES_FIRST, run, showNext, topic, writeStory } from './demo/story.ts';

const PERIOD_US = 600_000_000;
const DSO = 'DSO::1220bba319c9c823d166e41281696923ad9481c065e891e86e9b257381fa82439928';

/** What deploy/scale shows, without Docker: decoded by one process, added up by Flink, kept by PostgreSQL, answered by a reader. */
async function demonstrate(folder: string, stopping: DemoStop): Promise<void> {
  const { owners, first } = writeStory(folder);
  say('1. Kafka, PostgreSQL and Flink (brought with Maven and from PyPI the first time)');
  await using parts = new AsyncDisposableStack();
  const flinkStarts = startFlink();
  const broker = parts.use(await startBroker());
  const server = parts.use(await startPostgres());
  const flink = parts.use(await flinkStarts);
  stopping.check();
  const address = broker.addresses.plain;
  console.log(`   ${address}, ${server.url()}, ${flink.rest}`);
  say(`2. holdfast produce: the first ${LINES_FIRST} updates of ${FIXTURE}`);
  run('produce', first, ...topic(address), '--create');
  say('3. holdfast decode, into the topic coins');
  const decoder = spawn(
    process.execPath,
    [
      'dist/main.js',
      'decode',
      ...topic(address),
      '--flat-topic',
      'coins',
      '--create',
      '--dso',
      DSO,
      '--log-level',
      'warn',
    ],
    { cwd: root, env, stdio: 'inherit' },
  );
  const decoderEnded = once(decoder, 'exit');
  stopping.watch(decoder);
  parts.defer(async () => {
    decoder.kill('SIGTERM');
    await decoderEnded;
  });
  while (!(await hasEvents(address))) await sleep(200);
  say('4. holdfast migrate, and deploy/scale/start-job.sh');
  run('migrate', '--postgres', server.url(), '--dso', DSO);
  console.log(await flink.startJob({ broker: address, topic: 'coins', store: server.settings(), periodUs: PERIOD_US }));
  say('5. holdfast serve --postgres');
  stopping.check();
  const service = parts.use(await startService(['--postgres', server.url()], stopping));
  const shown = await showNext(service.url, owners, null);
  say('6. The whole feed is given: what the topic has of it is left out');
  run('produce', FIXTURE, ...topic(address));
  await showNext(service.url, owners, shown);
  say('7. flink list');
  console.log((await flink.flink('list')).stdout);
}

async function hasEvents(address: string): Promise<boolean> {
  const read = await readCommitted(address, 'coins').catch(() => []);
  return read.some((messages) => messages.length > 0);
}

await runDemo(demonstrate);
