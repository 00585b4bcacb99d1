import { activeContracts, importMarker, seedImports } from '../../../demo/active-contracts.ts';
import type { Row } from '../kafka/topic.ts';
import { emptyUpdate } from '../ledger/empty-update.ts';
import type { HistoryItem } from '../ledger/history.ts';
import { createRandom, type Random } from '../ledger/random.ts';
import { randomLedger } from '../ledger/random-ledger.ts';
import { linesOf } from '../views/replayed.ts';
import { flatLedger } from './ledgers.ts';

export interface World {
  /** In the order of one machine. */
  readonly lines: readonly string[];
  /** The same lines in partitions at random, some of them twice in a row. */
  readonly rows: readonly Row[];
  /** The time of each partition's last update, in microseconds. */
  readonly ends: readonly number[];
}

export interface WorldSize {
  readonly updates: number;
  readonly partitions: number;
  readonly periodUs: number;
}

const FIRST = 3;
const REDELIVERED = 0.05;
const QUIET_PERIODS = 5;

/**
 * A random ledger of two migrations behind a snapshot import, whose updates it repeats; some periods after it, an update in each partition
 * closes every interval of it.
 */
export function randomWorld(seed: number, { updates, partitions, periodUs }: WorldSize): World {
  const random = createRandom(seed);
  const lines: string[] = [];
  const rows: Row[] = [];
  const put = (partition: number, value: string, times = 1): void => {
    lines.push(value);
    for (let i = 0; i < times; i++) rows.push({ partition, value });
  };
  const items = [...randomLedger(flatLedger(seed, { updates, migrations: 2, carriedOver: 15, migrationId: FIRST }))];
  const { imports, mark } = seedOf(linesOf(items, 'scan'), updates / 10);
  for (const line of imports) put(random.below(partitions), line);
  lines.push(mark);
  for (let partition = 0; partition < partitions; partition++) rows.push({ partition, value: mark });
  const partitionOf = createSpread(random, partitions);
  for (const item of items) {
    const partition = partitionOf(item);
    for (const line of linesOf([item], 'scan')) put(partition, line, random.chance(REDELIVERED) ? 2 : 1);
  }
  const closing = closingUpdates(lines.at(-1)!, { partitions, periodUs });
  for (const { partition, value } of closing.rows) put(partition, value);
  return { lines, rows, ends: closing.ends };
}

/** Gives each item a partition at random. */
export function createSpread(random: Random, partitions: number): (item: HistoryItem) => number {
  let before = { ms: -1, partition: 0 };
  return (item) => {
    const ms = millisecondOf(item);
    // Of two partitions an engine does not know which event was first within a millisecond. A network needs longer than that to
    // archive what it has created.
    const partition = ms !== null && ms === before.ms ? before.partition : random.below(partitions);
    if (ms !== null) before = { ms, partition };
    return partition;
  };
}

interface Closing {
  readonly rows: readonly { readonly partition: number; readonly value: string }[];
  /** The time of each partition's last update, in microseconds. */
  readonly ends: readonly number[];
}

/** Updates some periods after the last one that close every interval before them. */
export function closingUpdates(
  lastLine: string,
  { partitions, periodUs }: { readonly partitions: number; readonly periodUs: number },
): Closing {
  const last = JSON.parse(lastLine) as LastUpdate;
  // Not on the grid, so that all of them are in one interval.
  const end = (Math.ceil((Date.parse(last.record_time) * 1000) / periodUs) + QUIET_PERIODS) * periodUs + 1_000_000;
  const ends = Array.from({ length: partitions }, (_, partition) => end + partition * 1000);
  // Quiet intervals become snapshots with the next one that has an event and is closed.
  const rows = [end - periodUs, ...ends].map((at, i) => ({ partition: Math.max(0, i - 1), value: updateAt(last, at) }));
  return { rows, ends };
}

/** What is active after so many updates. */
function seedOf(
  lines: readonly string[],
  updates: number,
): { readonly imports: readonly string[]; readonly mark: string } {
  const { record_time: recordTime } = JSON.parse(lines[updates]!) as LastUpdate;
  const imports = seedImports(activeContracts(lines, { migrationId: FIRST, recordTime }), FIRST);
  return { imports, mark: importMarker(FIRST, recordTime) };
}

interface LastUpdate {
  readonly migration_id: number;
  readonly synchronizer_id: string;
  readonly record_time: string;
}

function updateAt({ migration_id, synchronizer_id }: LastUpdate, us: number): string {
  const empty = JSON.parse(emptyUpdate(synchronizer_id, 0)) as object;
  const record_time = new Date(us / 1000).toISOString();
  return JSON.stringify({ ...empty, update_id: `at ${record_time}`, migration_id, record_time });
}

function millisecondOf(item: HistoryItem): number | null {
  return item.kind === 'update' && item.recordTime !== null ? Math.floor((item.recordTime - 1) / 1000) : null;
}
