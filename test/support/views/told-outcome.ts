import { expect } from 'vitest';
import type { ReplayOptions } from '../../../src/ingest/replay.ts';
import { openViewsReader } from '../../../src/views/read/reader.ts';
import type { Snapshot, ViewsReader } from '../../../src/views/read/types.ts';
import type { Counts } from '../../../src/views/write/counts.ts';
import { type Contract, type HistoryItem, importsOfOne, inOrder } from '../ledger/history.ts';
import { told } from '../ledger/told-ledger.ts';
import { shortTime } from '../ledger/wire-text.ts';
import { temporaryDirectory } from '../program/temporary-directory.ts';
import { type Cuts, type Format, linesOf, replayInto } from './replayed.ts';
import { storedDso } from './views-dump.ts';

const COIN = 10_000_000_000n;
const CUTS: readonly Cuts[] = [{ chunkBytes: 64, batchEventsMax: 1 }, { chunkBytes: 2 ** 20 }];

/** What became of a told ledger, as text. */
export interface Outcome {
  /** `m0 00:10: alice 10, bob 5 + 2 locked`, in order. */
  readonly snapshots: readonly string[];
  /** `line 2: given ..., expected ...`, or null. */
  readonly halted: string | null;
  readonly dso: string | null;
  readonly lowestOpenRound: bigint | null;
  readonly counts: Pick<
    Counts,
    'updates' | 'redelivered' | 'importsLate' | 'createsRepeated' | 'counterfeits' | 'checkpoints' | 'checkpointsBehind'
  >;
}

/**
 * Replays a told ledger, or several as files one after the other, message by message and at once, in both formats where
 * both have words for all of it, or in the formats given; all must come out the same.
 */
export async function outcome(
  texts: string | readonly string[],
  { formats: given, ...changes }: Partial<ReplayOptions> & { readonly formats?: readonly Format[] } = {},
): Promise<Outcome> {
  const contracts = new Map<string, Contract>();
  const files = [texts].flat().map((text) => told(text, contracts));
  const outcomes: Outcome[] = [];
  const formats = given ?? formatsOf(files.flat());
  for (const [i, cuts] of CUTS.entries()) {
    const format = formats[i % formats.length]!;
    outcomes.push(await outcomeOf(files, format, { ...cuts, ...changes }));
  }
  const [first, ...others] = outcomes;
  for (const other of others) expect(other).toEqual(first);
  return first!;
}

function formatsOf(items: readonly HistoryItem[]): Format[] {
  const formats: Format[] = [];
  if (items.every((item) => item.kind === 'update' && importsOfOne(item).length <= 1)) formats.push('scan');
  const migrations = new Set(items.map(({ migrationId }) => migrationId));
  if (migrations.size === 1) formats.push('ledger-api');
  if (formats.length === 0) throw new Error('neither format has words for all of this ledger');
  return formats;
}

async function outcomeOf(
  files: readonly (readonly HistoryItem[])[],
  format: Format,
  changes: Cuts & Partial<ReplayOptions>,
): Promise<Outcome> {
  using directory = temporaryDirectory();
  const paths = files.map((items, i) => directory.writeLines(`feed-${i}.ndjson`, linesOf(items, format)));
  const migrationId = format === 'scan' ? null : files[0]![0]!.migrationId;
  const { counts, halted } = await replayInto(directory.at('data'), paths, { migrationId, ...changes });
  using database = openViewsReader(directory.at('data'));
  const { updates, redelivered, importsLate, createsRepeated, counterfeits, checkpoints, checkpointsBehind } = counts;
  return database.read((views) => ({
    snapshots: [...views.snapshots()].map((snapshot) => snapshotLine(views, snapshot, ownersOf(files.flat()))),
    halted: halted && `line ${halted.offset}: given ${halted.given}, expected ${halted.expected}`,
    dso: storedDso(directory.at('data')),
    lowestOpenRound: views.lowestOpenRound(),
    counts: { updates, redelivered, importsLate, createsRepeated, counterfeits, checkpoints, checkpointsBehind },
  }));
}

function ownersOf(items: readonly HistoryItem[]): string[] {
  const updates = items.filter((item) => item.kind === 'update');
  const contracts = updates.flatMap(({ events }) => [...inOrder(events)].map(({ contract }) => contract));
  const owners = contracts.flatMap(({ payload }) => (payload.kind === 'coin' ? [payload.owner] : []));
  return [...new Set(owners)].sort();
}

/** The snapshot as text, whose figures must add up. */
export function snapshotLine(views: ViewsReader, snapshot: Snapshot, parties: readonly string[]): string {
  const holders = parties.filter((party) => views.holds(snapshot, party));
  const texts = holders.map((party) => {
    const { unlocked, locked } = views.totals(snapshot, party);
    return `${party.split('::')[0]} ${unlocked / COIN}${locked === 0n ? '' : ` + ${locked / COIN} locked`}`;
  });
  const sums = holders.map((party) => views.totals(snapshot, party));
  expect(snapshot.owners).toBe(holders.length);
  expect(snapshot.unlocked).toBe(sums.reduce((sum, { unlocked }) => sum + unlocked, 0n));
  expect(snapshot.locked).toBe(sums.reduce((sum, { locked }) => sum + locked, 0n));
  const clock = shortTime(snapshot.recordTime).slice(11, -1).replace(/:00$/, '');
  return `m${snapshot.migrationId} ${clock}: ${texts.join(', ') || 'nobody'}`;
}
