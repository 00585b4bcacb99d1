import { randomUUID } from 'node:crypto';
import { seedOf } from '../../../demo/active-contracts.ts';
import type { Row, TestTopic } from '../kafka/topic.ts';
import { createRandom } from '../ledger/random.ts';
import { randomLedger } from '../ledger/random-ledger.ts';
import { linesOf } from '../views/replayed.ts';
import { decodeLines } from './decoded.ts';
import { FLAT_DSO, flatLedger } from './ledgers.ts';
import { deadLettersOf, type MemberTask } from './members.ts';
import { readCommitted } from './read-committed.ts';

/** What to decode a topic with, into topics of the test's own. */
export function taskOf(topic: TestTopic): MemberTask {
  return { address: topic.address, input: topic.name, flat: `flat-${randomUUID()}` };
}

/** A random ledger's updates, each in a partition at random; behind a snapshot import of its first tenth, if so wanted, which it repeats. */
export function spreadRows(
  seed: number,
  { updates, partitions, isSeeded = false }: { updates: number; partitions: number; isSeeded?: boolean },
): Row[] {
  const random = createRandom(seed);
  const lines = linesOf(randomLedger(flatLedger(seed, { updates, migrationId: 0 })), 'scan');
  const rows = lines.map((value) => ({ partition: random.below(partitions), value }));
  if (!isSeeded) return rows;
  const { record_time: recordTime } = JSON.parse(lines[Math.floor(updates / 10)]!) as { record_time: string };
  const seeding = seedOf(lines, { recordTime });
  const mark = seeding.pop()!;
  const imports = seeding.map((value) => ({ partition: random.below(partitions), value }));
  return [...imports, ...Array.from({ length: partitions }, (_, partition) => ({ partition, value: mark })), ...rows];
}

/** The events of rows that are good, in their order, as the topic must have them once. */
export function eventsIn(rows: readonly Row[], partition: number): string[] {
  const own = rows.filter((row) => row.partition === partition).map(({ value }) => value!);
  const { events, stoppedBy } = decodeLines(own, { dso: FLAT_DSO });
  if (stoppedBy !== null) throw stoppedBy;
  return events.map((event) => JSON.stringify(event));
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
