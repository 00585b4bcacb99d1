import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { readBounds } from '../../../../src/feed/kafka/kafka-client.ts';
import { expectViewsOf } from '../../../support/kafka/bridge.ts';
import { serveTopic } from '../../../support/kafka/service.ts';
import { createTopic, readSent, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { createRandom } from '../../../support/ledger/random.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { type Ended, runProgram, startProgram } from '../../../support/program/program.ts';
import { soakCount } from '../../../support/program/soak.ts';
import { seededFeed } from '../../../support/scan/active-contracts.ts';
import { freshScan } from '../../../support/scan/fresh-scan.ts';
import { DSO, scanLedger, timeOf } from '../../../support/scan/ledger.ts';

const address = inject('kafka').addresses.plain;
const directory = freshDirectory();
const scan = freshScan({ migrationId: 0 });

const LINES = scanLedger(71, 400);
const SEEDED_AT = timeOf(LINES[150]!);
const KILLS = soakCount(2);

const argsFor = (topic: TestTopic, ...more: string[]): string[] => [
  ...['produce', '--scan', scan.url, '--kafka-brokers', address, '--kafka-topic', topic.name],
  ...['--scan-poll-interval', '100ms', '--scan-page-size', '20', ...more],
];
const produced = (topic: TestTopic, ...more: string[]): Promise<Ended> => runProgram(argsFor(topic, ...more));

describe('produce --scan', () => {
  it(`--follow, killed with SIGKILL at random moments, ${KILLS} times, leaves a topic with the whole ledger`, {
    timeout: 60_000 + KILLS * 10_000,
  }, async () => {
    const random = createRandom(7);
    const topic = await createTopic(address);
    const reader = await serveTopic(topic, directory, { dso: DSO });
    const args = argsFor(topic, '--follow', '--start', 'beginning');
    for (let killed = 0; killed < KILLS; killed++) {
      await using program = startProgram(args);
      const until = Math.floor((LINES.length * (killed + 1)) / (KILLS + 1));
      const moment = sleep(500 + random.below(2_000));
      while (scan.lines.length < until) {
        scan.add(...LINES.slice(scan.lines.length, Math.min(scan.lines.length + 7, until)));
        await sleep(20);
      }
      await moment;
      program.kill('SIGKILL');
      await program.ended;
    }
    scan.add(...LINES.slice(scan.lines.length));
    {
      await using program = startProgram(args);
      const texts = async (): Promise<number> =>
        new Set((await readTopic(address, topic.name)).map((row) => row.value)).size;
      await expect.poll(texts).toBe(LINES.length);
      program.kill('SIGTERM');
      expect(await program.ended).toMatchObject({ code: 0 });
    }
    await expectViewsOf(LINES, topic, { directory, dso: DSO, reader });
  });

  it('gives each synchronizer its partition, and sends behind what the topic holds nothing twice', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    for (const end of [150, 151, 400]) {
      scan.add(...LINES.slice(scan.lines.length, end));
      const run = await produced(topic, '--start', 'beginning');
      expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/ sent to topic .*, 2 partitions\n$/) });
    }
    const rows = await readSent(address, topic.name);
    expect(rows.map(({ value }) => value).toSorted()).toEqual(LINES.toSorted());
    for (const { partition, value } of rows) expect(value!.includes('zweite::1220ee')).toBe(partition === 0);
    await expectViewsOf(LINES, topic, { directory, dso: DSO });
  });

  it('sends a seed whole, and refuses a topic that holds half a one', async () => {
    scan.add(...LINES.slice(0, 300));
    scan.change({ snapshots: [SEEDED_AT] });
    const topic = await createTopic(address);
    expect(await produced(topic)).toMatchObject({ code: 0 });
    scan.add(...LINES.slice(300));
    expect(await produced(topic)).toMatchObject({ code: 0 });
    await expectViewsOf(seededFeed(LINES, { recordTime: SEEDED_AT }), topic, { directory, dso: DSO });
    const half = await createTopic(address);
    const rows = await readSent(address, topic.name);
    await half.send(rows.slice(0, 10));
    const refused = await produced(half);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('ends within a seed') });
    expect(await readSent(address, half.name)).toHaveLength(10);
  });

  it('sends nothing of a seed before all of it is there', async () => {
    scan.add(...LINES);
    scan.change({ snapshots: [SEEDED_AT] });
    scan.fail('/v1/holdings/summary', { status: 503, body: { error: 'busy' } });
    const topic = await createTopic(address);
    {
      await using program = startProgram(argsFor(topic));
      await expect.poll(() => scan.asked.some(({ path }) => path.includes('summary'))).toBe(true);
      program.kill('SIGKILL');
      await program.ended;
    }
    expect(await readSent(address, topic.name)).toEqual([]);
  });

  it('begins no seed in a topic that has lost all that it had, nor behind what came meanwhile', async () => {
    scan.add(...LINES);
    scan.change({ snapshots: [SEEDED_AT] });
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send(LINES.slice(0, 50).map((value) => ({ partition: 0, value })));
    await topic.cut(0, 50);
    const refused = await produced(topic);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no longer has what was in it.*another topic/),
    });
    const bounds = await topic.admin((admin) => readBounds(admin, topic.name));
    expect([...bounds.values()].map(({ high }) => high)).toEqual([50, 0]);
    const other = await createTopic(address);
    scan.fail('/v1/holdings/summary', { status: 503, body: { error: 'busy' } });
    await using program = startProgram(argsFor(other));
    await expect.poll(() => scan.asked.some(({ path }) => path.includes('summary'))).toBe(true);
    await other.send([{ partition: 0, value: LINES[0]! }]);
    scan.fail('/v1/holdings/summary', null);
    expect(await program.ended).toMatchObject({ code: 2, stderr: expect.stringContaining('another process') });
    expect(await readSent(address, other.name)).toHaveLength(1);
  });

  it('refuses a topic of another network, and files beside a network', async () => {
    const topic = await createTopic(address);
    await topic.send(LINES.slice(0, 50).map((value) => ({ partition: 0, value })));
    scan.add(...LINES);
    scan.change({ dso: 'OTHER::1220ff' });
    const refused = await produced(topic, '--start', 'beginning');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`has the coins of ${DSO}, and`) });
    expect(await readSent(address, topic.name)).toHaveLength(50);
    const both = await produced(topic, 'feed.ndjson');
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('name either files') });
  });
});
