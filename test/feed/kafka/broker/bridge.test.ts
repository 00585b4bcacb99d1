import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { seededFeed } from '../../../../demo/active-contracts.ts';
import { expectViewsOf } from '../../../support/kafka/bridge.ts';
import { createTopic, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { createRandom } from '../../../support/ledger/random.ts';
import { offsetOf } from '../../../support/ledger-api/answers.ts';
import { freshParticipant } from '../../../support/ledger-api/fresh-participant.ts';
import * as participants from '../../../support/ledger-api/ledger.ts';
import { followedLines, seenLines, TEMPLATES, timesAt } from '../../../support/ledger-api/participant-ledger.ts';
import { seedLines } from '../../../support/ledger-api/seed-lines.ts';
import { type Ended, holdfast } from '../../../support/program/command.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { startProgram } from '../../../support/program/program.ts';
import { soakCount } from '../../../support/program/soak.ts';
import { freshScan } from '../../../support/scan/fresh-scan.ts';
import { DSO, scanLedger, timeOf } from '../../../support/scan/ledger.ts';

const address = inject('kafka').addresses.plain;
const directory = freshDirectory();
const KILLS = soakCount(1);

const valuesIn = async (topic: TestTopic): Promise<string[]> =>
  (await readTopic(address, topic.name)).flatMap(({ value }) => value ?? []);

describe('produce --scan', () => {
  const scan = freshScan({ migrationId: 0 });
  const LINES = scanLedger(71, 300);
  const SEEDED_AT = timeOf(LINES[120]!);
  const argsFor = (topic: TestTopic, ...more: string[]): string[] => [
    ...['produce', '--scan', scan.url, '--kafka-brokers', address, '--kafka-topic', topic.name],
    ...['--scan-poll-interval', '100ms', '--scan-page-size', '20', ...more],
  ];
  const produced = (topic: TestTopic, ...more: string[]): Promise<Ended> => holdfast(...argsFor(topic, ...more));

  it(`--follow, killed with SIGKILL at random moments, ${KILLS} times, leaves a topic with the whole ledger, each synchronizer in its partition, to which nothing is to be added`, {
    timeout: 60_000 + KILLS * 10_000,
  }, async () => {
    const random = createRandom(7);
    const topic = await createTopic(address, { partitions: 2 });
    const args = argsFor(topic, '--follow', '--start', 'beginning');
    for (let killed = 0; killed < KILLS; killed++) {
      await using program = startProgram(args);
      const until = Math.floor((LINES.length * (killed + 1)) / (KILLS + 1));
      const before = (await valuesIn(topic)).length;
      while (scan.lines.length < until) {
        scan.add(...LINES.slice(scan.lines.length, Math.min(scan.lines.length + 7, until)));
        await sleep(5);
      }
      await expect.poll(async () => (await valuesIn(topic)).length).toBeGreaterThan(before);
      await sleep(random.below(100));
      program.kill('SIGKILL');
      await program.ended;
    }
    scan.add(...LINES.slice(scan.lines.length));
    {
      await using program = startProgram(args);
      await expect.poll(async () => new Set(await valuesIn(topic)).size).toBe(LINES.length);
      program.kill('SIGTERM');
      expect(await program.ended).toMatchObject({ code: 0 });
    }
    const run = await produced(topic, '--start', 'beginning');
    expect(run).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^0 messages sent to topic .*, 2 partitions\n$/),
    });
    for (const { partition, value } of await readTopic(address, topic.name))
      expect(value!.includes('zweite::1220ee')).toBe(partition === 0);
    await expectViewsOf(LINES, topic, { directory, dso: DSO });
  });

  it('sends a snapshot import as it comes, and refuses a topic that ends within one, or of another network', async () => {
    scan.add(...LINES.slice(0, 250));
    scan.change({ snapshots: [SEEDED_AT] });
    const imported = seededFeed(LINES.slice(0, 250), { recordTime: SEEDED_AT });
    const half = await createTopic(address);
    await half.send(imported.slice(0, 5).map((value) => ({ partition: 0, value })));
    const text = expect.stringMatching(/ends within a snapshot import.*delete the topic.*fetch --output FILE/);
    expect(await produced(half)).toMatchObject({ code: 2, stderr: text });
    expect(await valuesIn(half)).toHaveLength(5);
    const topic = await createTopic(address);
    expect(await produced(topic)).toMatchObject({ code: 0 });
    await expectViewsOf(imported, topic, { directory, dso: DSO });
    scan.change({ dso: 'OTHER::1220ff' });
    const before = await valuesIn(topic);
    const refused = await produced(topic);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`has the coins of ${DSO}, and`) });
    expect(await valuesIn(topic)).toEqual(before);
    const both = await produced(topic, 'feed.ndjson');
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('name either files') });
  });
});

describe('produce --ledger-api', () => {
  const { DSO: dso, ownersIn, participantLedger } = participants;
  const LINES = participantLedger(61, 300);
  const FOLLOWED = ownersIn(LINES).slice(1, 5);
  const OWN = followedLines(seenLines(LINES, { parties: FOLLOWED, templates: TEMPLATES }), FOLLOWED);
  const SEEDED = 120;
  const OFFSET = offsetOf(LINES[SEEDED - 1]!);
  const seed = seedLines(OWN, { offset: OFFSET, times: timesAt(LINES, OFFSET) });
  const participant = freshParticipant({ lines: LINES.slice(0, SEEDED) });
  const isUpdate = (value: string): boolean => /"(Transaction|Reassignment)":/.test(value);
  const offsetsIn = async (topic: TestTopic): Promise<number[]> =>
    (await valuesIn(topic)).filter(isUpdate).map(offsetOf);

  it('sends a snapshot import and what follows it, continues after a kill, and is refused behind another participant', async () => {
    const topic = await createTopic(address);
    const args = [
      ...[
        'produce',
        '--ledger-api',
        participant.url,
        '--ledger-api-parties',
        FOLLOWED.join(','),
        '--migration-id',
        '0',
      ],
      ...['--kafka-brokers', address, '--kafka-topic', topic.name],
    ];
    const isSent = (until: number) => async (): Promise<boolean> =>
      (await offsetsIn(topic)).includes(
        offsetOf(OWN.filter(isUpdate).findLast((line) => offsetOf(line) <= offsetOf(LINES[until - 1]!))!),
      );
    {
      await using program = startProgram([...args, '--follow']);
      await expect.poll(() => valuesIn(topic)).toContainEqual(expect.stringContaining('{"seed":'));
      participant.add(...LINES.slice(SEEDED, 200));
      await expect.poll(isSent(200)).toBe(true);
      program.kill('SIGKILL');
      await program.ended;
    }
    participant.add(...LINES.slice(200));
    expect(await holdfast(...args)).toMatchObject({ code: 0 });
    expect(await isSent(LINES.length)()).toBe(true);
    await expectViewsOf([...seed, ...OWN.filter((line) => offsetOf(line) > OFFSET)], topic, { directory, dso });
    const sent = await offsetsIn(topic);
    expect(sent).toEqual([...new Set(sent)]);
    participant.lines.splice(0, LINES.length, ...participantLedger(62, 300));
    const text = expect.stringMatching(/its last update is not one of this participant.*send to another topic/);
    expect(await holdfast(...args)).toMatchObject({ code: 2, stderr: text });
    expect(await offsetsIn(topic)).toEqual(sent);
  });
});
