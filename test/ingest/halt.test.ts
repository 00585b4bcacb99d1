import { describe, expect, it } from 'vitest';
import { oddLedger } from '../support/ledger/options.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { createRandom } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { CLOCK_US, linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews, storedOffset } from '../support/views/views-dump.ts';

const BAD = '{"update_id":"bad","migration_id":0,"record_time":"2025-02-12T09:00:00Z","events_by_id":{}}';

describe('an update that cannot be applied', () => {
  it('stops at the same message whatever the batch and chunk sizes', async () => {
    using directory = temporaryDirectory();
    const lines = linesOf(randomLedger(oddLedger(2_001, { updates: 150 })), 'scan');
    const at = createRandom(1).below(lines.length);
    const before = directory.writeLines('before.ndjson', lines.slice(0, at));
    await replayInto(directory.at('before'), [before]);
    const wanted = dumpViews(directory.at('before'));
    const feed = directory.writeLines('feed.ndjson', [...lines.slice(0, at), BAD, ...lines.slice(at)]);
    for (const [i, cut] of [
      { chunkBytes: 600, batchEventsMax: 1 },
      { chunkBytes: 30_000, batchEventsMax: 40 },
      { decodeWorkers: null },
    ].entries()) {
      const { halted } = await replayInto(directory.at(`halted ${i}`), [feed], cut);
      expect(halted).toMatchObject({ offset: at + 1, updateId: 'bad', decision: 'halted', source: feed });
      expect(dumpViews(directory.at(`halted ${i}`))).toEqual(wanted);
      expect(storedOffset(directory.at(`halted ${i}`))).toBe(at + 1);
    }
    await replayInto(directory.at('without'), [directory.writeLines('without.ndjson', lines)]);
    const { quarantined, halted } = await replayInto(directory.at('quarantined'), [feed], {
      onBadUpdate: 'quarantine',
    });
    expect({ quarantined, halted }).toEqual({ quarantined: 1, halted: null });
    expect(dumpViews(directory.at('quarantined'))).toEqual(dumpViews(directory.at('without')));
  });

  it('is kept with its bytes, its location and what is wrong', async () => {
    using directory = temporaryDirectory();
    const lines = linesOf(parseLedger('00:01 : +a alice 10\n00:02 =x : -b'), 'ledger-api');
    const feed = directory.writeLines('feed.ndjson', lines);
    const { halted } = await replayInto(directory.at('data'), [feed]);
    expect(halted).toMatchObject({
      id: 1,
      kind: 'update',
      decision: 'halted',
      source: feed,
      lane: 'file',
      offset: 2,
      migrationId: 0,
      updateId: 'x',
      field: 'contractId',
      given: '"0062"',
      length: lines[1]!.length,
      createdAt: CLOCK_US,
    });
    expect(halted?.bytes.toString()).toBe(lines[1]);
    expect(halted?.reason).toBe(`contractId: given "0062", expected ${halted?.expected}`);
  });

  it('halts the directory: later replays apply nothing, whatever the policy, the file or its mending', async () => {
    using directory = temporaryDirectory();
    const data = directory.at('data');
    const lines = linesOf(parseLedger('00:01 : +a alice 10\n00:11 : -a'), 'scan');
    const feed = directory.writeLines('feed.ndjson', [lines[0]!, BAD, lines[1]!]);
    const mended = directory.writeLines('mended.ndjson', lines);
    const first = await replayInto(data, [feed]);
    const tables = dumpViews(data);
    for (const again of [
      await replayInto(data, [feed]),
      await replayInto(data, [mended], { onBadUpdate: 'quarantine', seal: true }),
    ]) {
      expect(again.halted).toEqual(first.halted);
      expect(again.counts.updates).toBe(0);
    }
    expect(dumpViews(data)).toEqual(tables);
  });

  it('is every bad one under quarantine, and each is counted once, redelivered or not', async () => {
    using directory = temporaryDirectory();
    const data = directory.at('data');
    const lines = linesOf(parseLedger('00:01 : +a alice 10\n00:02 : -b\n00:03 : -c\n00:11 : -a'), 'scan');
    const feed = directory.writeLines('feed.ndjson', [...lines, ...lines]);
    const { quarantined, counts } = await replayInto(data, [feed], { onBadUpdate: 'quarantine' });
    expect({ quarantined, decided: counts.decided }).toEqual({ quarantined: 2, decided: 2 });
    expect(storedOffset(data)).toBe(9);
    expect((await replayInto(data, [feed], { onBadUpdate: 'quarantine' })).quarantined).toBe(0);
  });
});

it('a container that breaks halts after its readable part, whatever the policy', async () => {
  using directory = temporaryDirectory();
  const data = directory.at('data');
  const lines = linesOf(parseLedger('00:01 : +a alice 10\n00:11 : -a'), 'scan');
  const feed = directory.writeLines('feed.json', [`[${lines.join(',')}`]);
  const { halted } = await replayInto(data, [feed], { onBadUpdate: 'quarantine' });
  expect(halted).toMatchObject({ kind: 'container', decision: 'halted', length: 0 });
  expect(halted?.reason).toMatch(/^byte \d+: .*expected , or \]/);
  expect(dumpViews(data).snapshot).toHaveLength(1);
});
