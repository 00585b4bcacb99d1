import { expect } from 'vitest';
import type { HoldingsStore, OwnerFacts, Snapshot } from '../../../src/holdings/facts.ts';
import type { ReplayOptions } from '../../../src/ingest/replay-files.ts';
import { openViewsStore } from '../../../src/views/read/views-store.ts';
import type { Counts } from '../../../src/views/write/state.ts';
import { type Contract, type HistoryItem, importsOfOne, inOrder } from '../ledger/history.ts';
import { parseLedger } from '../ledger/parse-ledger.ts';
import { shortTime } from '../ledger/wire-text.ts';
import { temporaryDirectory } from '../program/temporary-directory.ts';
import { type Cuts, type Format, linesOf, replayInto } from './replayed.ts';
import { storedDso } from './views-dump.ts';

const COIN = 10_000_000_000n;
const CUTS: readonly Cuts[] = [
  { chunkBytes: 64, batchEventsMax: 1, epochEvents: 2, ownersMax: 0 },
  { chunkBytes: 2 ** 20 },
];

/** The result of a replay, as text. */
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
 * Replays a ledger (see `parseLedger`), or several as files one after the other, message by message and at once, in
 * both formats where both have words for all of it, or in the formats given; all must come out the same.
 */
export async function outcome(
  texts: string | readonly string[],
  { formats: given, ...changes }: Partial<ReplayOptions> & { readonly formats?: readonly Format[] } = {},
): Promise<Outcome> {
  const contracts = new Map<string, Contract>();
  const files = [texts].flat().map((text) => parseLedger(text, contracts));
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

/**
 * Cases of a rule, one a line: `name | ledger | what comes of it`. The lines of a ledger are divided by ` / ` and files by ` // `. What comes
 * of it are parts divided by ` & `: snapshots in order (`m0 00:10: bob 5`; `none`), counts (`redelivered 3`), `halted` with a part of the reason.
 */
export function ledgerCases(text: string): [name: string, ledger: string, wanted: string][] {
  const lines = text.trim().split('\n');
  return lines.map((line) => line.split(' | ').map((part) => part.trim()) as [string, string, string]);
}

export async function expectCase(
  ledger: string,
  wanted: string,
  options?: Parameters<typeof outcome>[1],
): Promise<void> {
  const files = ledger.split(' // ').map((file) => file.replaceAll(' / ', '\n'));
  const { snapshots, halted, counts, lowestOpenRound } = await outcome(files, options);
  const parts = wanted.split(' & ');
  const reason = parts.find((part) => part.startsWith('halted '))?.slice('halted '.length);
  if (reason === undefined) expect(halted).toBeNull();
  else expect(halted).toContain(reason);
  const sealed = parts.filter((part) => /^m\d|^none$/.test(part));
  if (sealed.length > 0) expect(snapshots).toEqual(sealed.filter((part) => part !== 'none'));
  const figures = parts.flatMap((part) => [/^([a-z]+) (\d+)$/i.exec(part)]).filter((found) => found !== null);
  const found = { ...counts, lowestOpenRound: Number(lowestOpenRound) };
  expect(found).toMatchObject(Object.fromEntries(figures.map(([, name, count]) => [name, Number(count)])));
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
  using store = openViewsStore(directory.at('data'));
  const parties = ownersOf(files.flat());
  const snapshots: string[] = [];
  for (const snapshot of await store.facts({ kind: 'snapshots' }))
    snapshots.push(snapshotLine(snapshot, await ownersAt(store, snapshot, parties)));
  const { updates, redelivered, importsLate, createsRepeated, counterfeits, checkpoints, checkpointsBehind } = counts;
  return {
    snapshots,
    halted: halted && `line ${halted.offset}: given ${halted.given}, expected ${halted.expected}`,
    dso: storedDso(directory.at('data')),
    lowestOpenRound: await lowestOpenRound(store),
    counts: { updates, redelivered, importsLate, createsRepeated, counterfeits, checkpoints, checkpointsBehind },
  };
}

function ownersOf(items: readonly HistoryItem[]): string[] {
  const updates = items.filter((item) => item.kind === 'update');
  const contracts = updates.flatMap(({ events }) => [...inOrder(events)].map(({ contract }) => contract));
  const owners = contracts.flatMap(({ payload }) => (payload.kind === 'coin' ? [payload.owner] : []));
  return [...new Set(owners)].sort();
}

/** What parties hold at a snapshot. */
export async function ownersAt(
  store: HoldingsStore,
  { migrationId, recordTime }: Snapshot,
  owners: readonly string[],
): Promise<readonly OwnerFacts[]> {
  const at = { migrationId: BigInt(migrationId), recordTime: BigInt(recordTime), match: 'exact' } as const;
  return (await store.facts({ kind: 'owners', snapshot: at, owners, round: null })).owners;
}

async function lowestOpenRound(store: HoldingsStore): Promise<bigint | null> {
  const newest = { migrationId: null, recordTime: null, match: 'exact' } as const;
  return (await store.facts({ kind: 'owners', snapshot: newest, owners: [], round: 'lowest open' })).round;
}

export function holds({ unlocked, locked }: OwnerFacts): boolean {
  return unlocked.count + locked.count > 0;
}

/** The snapshot as text, whose figures must add up. */
function snapshotLine(snapshot: Snapshot, owners: readonly OwnerFacts[]): string {
  const holders = owners.filter(holds);
  const texts = holders.map(({ party, unlocked, locked }) => {
    const lockedText = locked.amount === 0n ? '' : ` + ${locked.amount / COIN} locked`;
    return `${party.split('::')[0]} ${unlocked.amount / COIN}${lockedText}`;
  });
  expect(snapshot.owners).toBe(holders.length);
  expect(snapshot.unlocked).toBe(holders.reduce((sum, { unlocked }) => sum + unlocked.amount, 0n));
  expect(snapshot.locked).toBe(holders.reduce((sum, { locked }) => sum + locked.amount, 0n));
  const clock = shortTime(snapshot.recordTime).slice(11, -1).replace(/:00$/, '');
  return `m${snapshot.migrationId} ${clock}: ${texts.join(', ') || 'nobody'}`;
}
