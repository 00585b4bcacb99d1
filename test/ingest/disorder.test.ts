import { describe, expect, it } from 'vitest';
import type { HistoryItem, HistoryUpdate, Micros } from '../support/ledger/history.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { oracle } from '../support/ledger/oracle.ts';
import { createRandom } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const seeds = Array.from({ length: soakCount(3) }, (_, seed) => seed);

/**
 * An update without events at a time counted from the first one known of a synchronizer of the ledger so far; at its
 * very time, that one.
 */
function lateUpdate(before: readonly HistoryItem[], pick: number, afterFirstUs: Micros): HistoryUpdate {
  const updates = before.filter((item) => item.kind === 'update' && item.recordTime !== null) as HistoryUpdate[];
  const { migrationId, synchronizerId } = updates[pick % updates.length]!;
  const first = updates.find((each) => each.migrationId === migrationId && each.synchronizerId === synchronizerId)!;
  const { otherSynchronizerId: _, ...rest } = first;
  const recordTime = first.recordTime! + afterFirstUs;
  const updateId = afterFirstUs === 0 ? first.updateId : 'late';
  return { ...rest, wrapping: 'transaction', updateId, recordTime, events: [] };
}

describe.each(seeds)('into random ledger %i, an old update', (seed) => {
  const random = createRandom(seed + 555);
  const items = [...randomLedger(oddLedger(seed + 4_000, { updates: 120, migrations: 2, synchronizers: 3 }))].filter(
    ({ kind }) => kind === 'update',
  );
  const at = 40 + random.below(items.length - 40);
  const before = items.slice(0, at);
  const pick = random.below(at);
  const withLate = (afterFirstUs: Micros): HistoryItem[] => {
    return [...before, lateUpdate(before, pick, afterFirstUs), ...items.slice(at)];
  };

  it('from before the first one known of its synchronizer comes in disorder, and halts there', async () => {
    using directory = temporaryDirectory();
    const changed = withLate(-1);
    expect(() => oracle(changed, { periodMicros: TEN_MINUTES_US })).toThrow('late lies before the first update known');
    for (const [i, cut] of [{ chunkBytes: 2 ** 20 }, { chunkBytes: 700, batchEventsMax: 3 }].entries()) {
      const feed = directory.writeLines('feed.ndjson', linesOf(changed, 'scan'));
      const { halted } = await replayInto(directory.at(`data ${i}`), [feed], cut);
      expect(halted).toMatchObject({ kind: 'update', updateId: 'late', offset: at + 1 });
    }
    await replayInto(directory.at('before'), [directory.writeLines('before.ndjson', linesOf(before, 'scan'))]);
    for (const i of [0, 1]) expect(dumpViews(directory.at(`data ${i}`))).toEqual(dumpViews(directory.at('before')));
  });

  it('from its time on is known', async () => {
    using directory = temporaryDirectory();
    const changed = withLate(0);
    const feed = directory.writeLines('feed.ndjson', linesOf(changed, 'scan'));
    const once = directory.writeLines('once.ndjson', linesOf(items, 'scan'));
    const { halted, counts } = await replayInto(directory.at('data'), [feed]);
    await replayInto(directory.at('once'), [once]);
    const { redelivered } = oracle(changed, { periodMicros: TEN_MINUTES_US }).counts;
    expect({ halted, redelivered: counts.redelivered }).toEqual({ halted: null, redelivered });
    expect(dumpViews(directory.at('data'))).toEqual(dumpViews(directory.at('once')));
  });
});
