import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { createTopic, type Row } from '../support/kafka/topic.ts';
import { createRandom } from '../support/ledger/random.ts';
import { soakCount } from '../support/program/soak.ts';
import { deadLettersIn, eventsIn, eventsOf, spreadRows, taskOf } from '../support/scale/flat-topic.ts';
import { spawnMember } from '../support/scale/members.ts';

const { addresses } = inject('kafka');
const PARTITIONS = 3;
const USUAL = 2;
const KILLS = soakCount(USUAL);
const SEED = KILLS === USUAL ? 1 : Date.now() % 1_000_000;
const PIECE_ROWS = 10;
const PAUSE_MS_MAX = 250;
/** Of one that has begun to decode. */
const WORK_MS_MAX = 1_500;

it(`two decoders, of which one is killed ${KILLS} times, write every event once and in order (seed ${SEED})`, {
  timeout: 60_000 + KILLS * 20_000,
}, async () => {
  const topic = await createTopic(addresses.plain, { partitions: PARTITIONS });
  const rows = spreadRows(SEED, { updates: 250 * KILLS, partitions: PARTITIONS, isSeeded: true });
  const random = createRandom(SEED);
  const bad: Row[] = [0, 1, 2].map((partition) => ({ partition, value: `{"bad": ${partition}` }));
  const task = { ...taskOf(topic), rules: { onBadUpdate: 'quarantine' as const } };

  const hurry = new AbortController();
  const sending = topic.produce(async (send) => {
    for (let from = 0; from < rows.length; from += PIECE_ROWS) {
      await send([...(from === 20 * PIECE_ROWS ? bad : []), ...rows.slice(from, from + PIECE_ROWS)]);
      await sleep(random.below(PAUSE_MS_MAX), undefined, { signal: hurry.signal }).catch(() => {});
    }
  });
  await using stays = spawnMember(task);
  for (let kill = 0; kill < KILLS; kill++) {
    await using killed = spawnMember(task);
    await expect.poll(() => killed.taken()).toBeGreaterThan(0);
    await sleep(random.below(WORK_MS_MAX));
    expect(killed.process.exitCode).toBeNull();
  }
  hurry.abort();
  await sending;
  const expected = Array.from({ length: PARTITIONS }, (_, partition) => eventsIn(rows, partition));
  const complete = async (): Promise<boolean> => {
    const counts = (await eventsOf(task)).map((events) => events.length);
    return counts.every((count, partition) => count >= expected[partition]!.length);
  };
  await expect.poll(complete, { interval: 300 }).toBe(true);
  expect(stays.process.exitCode).toBeNull();
  expect(await eventsOf(task)).toEqual(expected);
  const letters = (await deadLettersIn(task)).map((letter) => letter.replace(/:\d+ /, ' ')).sort();
  expect(letters).toEqual(bad.map(({ partition, value }) => `${partition} quarantined ${value}`));
});
