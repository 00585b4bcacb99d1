import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Merge, type SortKey, sortKeyOf } from '../../../src/feed/kafka/merge.ts';

/**
 * One message of a table: `<partition> <migration> <time> <synchronizer>`; `import` for the time, `checkpoint` for the
 * synchronizer; `<partition> -` has no time.
 */
interface Row {
  readonly partition: number;
  readonly text: string;
  readonly key: SortKey | null;
}

function parseRow(text: string): Row {
  const [partition, migrationId, time, synchronizerId] = text.trim().split(/\s+/);
  if (migrationId === '-') return { partition: Number(partition), text: text.trim(), key: null };
  const key = {
    migrationId: Number(migrationId),
    recordTime: time === 'import' ? null : Number(time),
    synchronizerId: synchronizerId === 'checkpoint' ? null : synchronizerId!,
  };
  return { partition: Number(partition), text: text.trim(), key };
}

const rowsOf = (table: string): Row[] => table.trim().split('\n').map(parseRow);

function partitionsOf(rows: readonly Row[]): number[] {
  return [...new Set(rows.map((row) => row.partition))];
}

/** Gives the rows in the order of `arrival` and takes what is due after each; then every partition is idle. */
function mergeAll(rows: readonly Row[], arrival: readonly Row[], take = 3): string[] {
  const merge = new Merge<Row>(partitionsOf(rows), (row) => row.key);
  const out: Row[] = [];
  for (const row of arrival) {
    merge.add(row.partition, [row]);
    out.push(...merge.take(take, new Set()));
  }
  out.push(...merge.take(Number.MAX_SAFE_INTEGER, new Set()));
  const held = arrival.length - out.length;
  return [...out.map((row) => row.text), `${held} held`];
}

const NONE = new Set<number>();

describe('the order of several partitions', () => {
  it.each([
    ['goes by record time', '0 0 10 a\n0 0 30 a\n1 0 20 b\n1 0 40 b', '0 0 10 a\n1 0 20 b\n0 0 30 a\n1 held'],
    [
      'goes by migration before record time',
      '0 1 5 a\n0 1 6 a\n1 0 90 b\n1 1 7 b',
      '1 0 90 b\n0 1 5 a\n0 1 6 a\n1 held',
    ],
    [
      'takes the imports of a migration first',
      '0 1 5 a\n0 1 6 a\n1 1 import b\n1 1 import b\n1 1 9 b',
      '1 1 import b\n1 1 import b\n0 1 5 a\n0 1 6 a\n1 held',
    ],
    [
      'goes by synchronizer at one time, and not by partition',
      '0 0 5 b\n0 0 9 b\n1 0 5 a\n1 0 9 a',
      '1 0 5 a\n0 0 5 b\n1 0 9 a\n1 held',
    ],
    [
      'puts a checkpoint after every update of its time',
      '0 0 5 checkpoint\n0 0 9 a\n1 0 5 b\n1 0 6 b\n1 0 10 b',
      '1 0 5 b\n0 0 5 checkpoint\n1 0 6 b\n0 0 9 a\n1 held',
    ],
    [
      'puts equal checkpoints in the order of their partitions',
      '1 0 5 checkpoint\n1 0 9 b\n0 0 5 checkpoint\n0 0 8 a',
      '0 0 5 checkpoint\n1 0 5 checkpoint\n0 0 8 a\n1 held',
    ],
    [
      'keeps what has no time directly after its predecessor',
      '0 0 10 a\n0 -\n0 -\n0 0 30 a\n1 0 20 b\n1 -\n1 0 40 b',
      '0 0 10 a\n0 -\n0 -\n1 0 20 b\n1 -\n0 0 30 a\n1 held',
    ],
    [
      'takes what has no time and no predecessor first, by partition',
      '1 -\n1 0 5 b\n0 -\n0 0 9 a',
      '0 -\n1 -\n1 0 5 b\n1 held',
    ],
    [
      "never changes a partition's own order",
      '0 0 50 a\n0 0 10 b\n0 0 60 a\n1 0 55 c\n1 0 70 c',
      '0 0 50 a\n0 0 10 b\n1 0 55 c\n0 0 60 a\n1 held',
    ],
    ['holds everything while one partition has shown nothing', '0 0 1 a\n0 0 2 a', '2 held'],
  ])('%s', (_, given, merged) => {
    const rows = rowsOf(given);
    const withSilentPartition = merged === '2 held' ? [...rows, parseRow('1 -')] : rows;
    expect(mergeAll(withSilentPartition, rows)).toEqual(merged.split('\n'));
  });

  it('needs no other partition where there is one', () => {
    const rows = rowsOf('0 0 1 a\n0 -\n0 0 2 a');
    expect(mergeAll(rows, rows)).toEqual(['0 0 1 a', '0 -', '0 0 2 a', '0 held']);
  });

  it('continues without the partitions that are idle, and names those that others wait for', () => {
    const merge = new Merge<Row>([0, 1, 2], (row) => row.key);
    const [first, second, third] = rowsOf('0 0 1 a\n1 0 2 b\n2 0 3 c');
    merge.add(0, [first!]);
    expect(merge.blocking(NONE)).toEqual([1, 2]);
    expect(merge.take(10, new Set([1]))).toEqual([]);
    expect(merge.blocking(new Set([1]))).toEqual([2]);
    expect(merge.take(10, new Set([1, 2]))).toEqual([first]);
    expect(merge.blocking(NONE)).toEqual([]);
    merge.add(2, [third!]);
    merge.add(1, [second!]);
    expect(merge.take(10, new Set([0]))).toEqual([second]);
    expect(merge.take(10, new Set([0, 1]))).toEqual([third]);
  });

  const place = fc.oneof(
    { arbitrary: fc.constant(null), weight: 1 },
    {
      arbitrary: fc.record({
        migrationId: fc.integer({ min: 0, max: 2 }),
        recordTime: fc.option(fc.integer({ min: 0, max: 9 }), { freq: 9 }),
        synchronizerId: fc.option(fc.constantFrom('a', 'b', 'c'), { freq: 9 }),
      }),
      weight: 6,
    },
  );
  /** Rows by partition, in any order of time. */
  const lanes = fc
    .array(fc.array(place, { maxLength: 12 }), { minLength: 1, maxLength: 5 })
    .map((partitions) =>
      partitions.map((places, partition) =>
        places.map((each, offset): Row => ({ partition, text: `${partition}@${offset}`, key: each })),
      ),
    );

  it('gives the same order however the messages arrive and are taken', () => {
    fc.assert(
      fc.property(lanes, fc.infiniteStream(fc.nat()), fc.integer({ min: 1, max: 4 }), (partitions, choices, take) => {
        const remaining = partitions.map((lane) => [...lane]).filter((lane) => lane.length > 0);
        const arrival: Row[] = [];
        while (remaining.length > 0) {
          const at = choices.next().value! % remaining.length;
          arrival.push(remaining[at]!.shift()!);
          if (remaining[at]!.length === 0) remaining.splice(at, 1);
        }
        const all = partitions.flat();
        expect(mergeAll(all, arrival, take)).toEqual(mergeAll(all, all, Number.MAX_SAFE_INTEGER));
      }),
    );
  });

  it('gives the same order when it starts again anywhere', () => {
    fc.assert(
      fc.property(lanes, fc.nat(), (partitions, cut) => {
        const all = partitions.flat();
        const uncut = mergeAll(all, all, Number.MAX_SAFE_INTEGER).slice(0, -1);
        const applied = uncut.slice(0, cut % (uncut.length + 1));
        const left = all.filter((row) => !applied.includes(row.text));
        const again = mergeAll(all, left, Number.MAX_SAFE_INTEGER).slice(0, -1);
        expect([...applied, ...again]).toEqual(uncut);
      }),
    );
  });
});

describe('the sort key of a message', () => {
  it('is its migration, time and synchronizer, the smallest time of a checkpoint, and nothing for what is ignored', () => {
    const times = [
      { synchronizerId: 'a', recordTime: 7 },
      { synchronizerId: 'b', recordTime: 5 },
    ];
    const update = { migrationId: 3, synchronizerId: 'a', recordTime: 9 };
    expect(
      sortKeyOf({ kind: 'update', format: 'scan', updateId: 'u', events: [], ignored: [], ...update }),
    ).toMatchObject(update);
    expect(sortKeyOf({ kind: 'checkpoint', format: 'ledger-api', migrationId: 3, times })).toEqual({
      migrationId: 3,
      recordTime: 5,
      synchronizerId: null,
    });
    expect(sortKeyOf({ kind: 'checkpoint', format: 'ledger-api', migrationId: 3, times: [] })).toBeNull();
    // As many as fit a message of 16 MiB.
    const many = Array.from({ length: 300_000 }, (_, i) => ({ synchronizerId: `s${i}`, recordTime: 9 + i }));
    expect(sortKeyOf({ kind: 'checkpoint', format: 'ledger-api', migrationId: 3, times: many })?.recordTime).toBe(9);
    expect(sortKeyOf({ kind: 'ignored', what: 'topology transaction' })).toBeNull();
  });
});
