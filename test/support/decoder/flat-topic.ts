import { randomUUID } from 'node:crypto';
import { decodeMessage } from '../../../src/decode/decode.ts';
import { flatten } from '../../../src/flat/flatten.ts';
import { FLAT_DSO, flatLedger } from '../flat/ledgers.ts';
import type { Row, TestTopic } from '../kafka/topic.ts';
import { createRandom } from '../ledger/random.ts';
import { randomLedger } from '../ledger/random-ledger.ts';
import { linesOf, TEN_MINUTES_US } from '../views/replayed.ts';
import { deadLettersOf, type MemberTask } from './members.ts';
import { readCommitted } from './read-committed.ts';

/** What to decode a topic with, into topics of the test's own. */
export function taskOf(topic: TestTopic): MemberTask {
  return { address: topic.address, input: topic.name, flat: `flat-${randomUUID()}` };
}

/** A random ledger's updates, each in a partition at random. */
export function spreadRows(seed: number, size: { updates: number; partitions: number }): Row[] {
  const random = createRandom(seed);
  const lines = linesOf(randomLedger(flatLedger(seed, { updates: size.updates, migrationId: 0 })), 'scan');
  return lines.map((value) => ({ partition: random.below(size.partitions), value }));
}

/** The events of rows that are good, in their order, as the topic must have them once. */
export function eventsIn(rows: readonly Row[], partition: number): string[] {
  const rules = { dso: FLAT_DSO, periodUs: TEN_MINUTES_US, recordTimeAheadMaxUs: 0, now: Date.now() * 1000 };
  const own = rows.filter((row) => row.partition === partition);
  return own.flatMap(({ value }) =>
    flatten(decodeMessage(Buffer.from(value!), { migrationId: 0 }), rules).map((event) => JSON.stringify(event)),
  );
}

const isMark = (text: string): boolean => text.startsWith('{"k":"T"');

/** The events that a read_committed reader sees, in each partition; without marks. */
export async function eventsOf(task: MemberTask): Promise<string[][]> {
  const read = await readCommitted(task.address, task.flat);
  return read.map((messages) => messages.map(({ value }) => String(value)).filter((text) => !isMark(text)));
}

export async function marksOf(task: MemberTask): Promise<string[][]> {
  const read = await readCommitted(task.address, task.flat);
  return read.map((messages) => messages.map(({ value }) => String(value)).filter(isMark));
}

/** Where each dead letter was, what was decided, and its bytes. */
export async function deadLettersIn(task: MemberTask): Promise<string[]> {
  const [read = []] = await readCommitted(task.address, deadLettersOf(task));
  return read.map(({ headers = {}, value }) => {
    const { partition, offset, decision } = headers;
    return `${partition}:${offset} ${decision} ${value}`;
  });
}
