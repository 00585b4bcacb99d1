import { expect, inject, it } from 'vitest';
import { expectViewsOf } from '../../../support/kafka/bridge.ts';
import { createTopic, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { offsetOf } from '../../../support/ledger-api/answers.ts';
import { freshParticipant } from '../../../support/ledger-api/fresh-participant.ts';
import { DSO, ownersIn, participantLedger } from '../../../support/ledger-api/ledger.ts';
import { followedLines, seenLines, TEMPLATES, timesAt } from '../../../support/ledger-api/participant-ledger.ts';
import { seedLines } from '../../../support/ledger-api/seed-lines.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { runProgram, startProgram } from '../../../support/program/program.ts';

const address = inject('kafka').addresses.plain;
const directory = freshDirectory();
const LINES = participantLedger(61, 300);
const FOLLOWED = ownersIn(LINES).slice(1, 5);
const OWN = followedLines(seenLines(LINES, { parties: FOLLOWED, templates: TEMPLATES }), FOLLOWED);
const SEEDED = 120;
const OFFSET = offsetOf(LINES[SEEDED - 1]!);
const WANTED = [
  ...seedLines(OWN, { offset: OFFSET, times: timesAt(LINES, OFFSET) }),
  ...OWN.filter((line) => offsetOf(line) > OFFSET),
];

const participant = freshParticipant({ lines: LINES.slice(0, SEEDED) });

const argsFor = (topic: TestTopic, ...more: string[]): string[] => [
  ...['produce', '--ledger-api', participant.url, '--ledger-api-parties', FOLLOWED.join(','), '--migration-id', '0'],
  ...['--kafka-brokers', address, '--kafka-topic', topic.name, ...more],
];

const valuesIn = async (topic: TestTopic): Promise<string[]> =>
  (await readTopic(address, topic.name)).flatMap(({ value }) => value ?? []);

/** The offsets of its updates. */
const offsetsIn = async (topic: TestTopic): Promise<number[]> =>
  (await valuesIn(topic)).filter((value) => /"(Transaction|Reassignment)":/.test(value)).map(offsetOf);

it('produce --ledger-api sends a seed and what follows it, goes on behind a kill, and is refused behind another participant', {
  timeout: 150_000,
}, async () => {
  const topic = await createTopic(address);
  const isSent = (until: number) => async (): Promise<boolean> =>
    (await offsetsIn(topic)).includes(offsetOf(OWN.findLast((line) => offsetOf(line) <= offsetOf(LINES[until - 1]!))!));
  {
    await using program = startProgram(argsFor(topic, '--follow'));
    await expect.poll(() => valuesIn(topic)).toContainEqual(expect.stringContaining('{"seed":'));
    participant.add(...LINES.slice(SEEDED, 200));
    await expect.poll(isSent(200)).toBe(true);
    program.kill('SIGKILL');
    await program.ended;
  }
  participant.add(...LINES.slice(200));
  await using program = startProgram(argsFor(topic, '--follow'));
  await expect.poll(isSent(LINES.length)).toBe(true);
  program.kill('SIGTERM');
  expect(await program.ended).toMatchObject({ code: 0 });
  await expectViewsOf(WANTED, topic, { directory, dso: DSO });
  const sent = await offsetsIn(topic);
  expect(sent).toEqual([...new Set(sent)]);
  participant.lines.splice(0, LINES.length, ...participantLedger(62, 300));
  expect(await runProgram(argsFor(topic))).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/its last update is not one of this participant.*send to another topic/),
  });
  expect(await offsetsIn(topic)).toEqual(sent);
});
