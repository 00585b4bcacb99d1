import type { HoldingsStore, Order, Snapshot } from '../holdings/facts.ts';
import { formatDuration } from '../ledger/duration.ts';
import { formatTime, LEDGER_TIME_MAX, LEDGER_TIME_MIN, type Micros } from '../ledger/time.ts';

/** The most that a page over HTTP may have: some 400 kB. */
export const DIGESTS_AT_ONCE = 1_000;

/** The digests of a directory: our own, or that of another Holdfast. */
export interface Replica {
  /** Null where it has no snapshot of that migration. */
  migration(migrationId: number): Promise<Migration | null>;
  /** Those of the first snapshots on the grid in that order, at most so many, within a range of times that has all of them. */
  digests(of: Migration, choice: Range & { order: Order; rows: number }): Promise<readonly Digests[]>;
}

interface Migration {
  readonly migrationId: number;
  readonly periodUs: number;
  /** Null while no coin is known. */
  readonly dso: string | null;
}

/** The digests of one migration. */
interface Chain extends Migration {
  /** The times of its first and its newest snapshot on the grid. */
  readonly first: Micros;
  readonly newest: Micros;
}

/** Both inclusive. */
interface Range {
  readonly from: Micros;
  readonly to: Micros;
}

interface Digests {
  readonly recordTime: Micros;
  readonly changesDigest: string;
  readonly digest: string;
}

/** Our own directory. */
export function ownReplica(store: HoldingsStore): Replica {
  return {
    migration: (migrationId) => store.facts({ kind: 'migration', migrationId: BigInt(migrationId) }),
    async digests({ migrationId, periodUs }, choice) {
      const found = await store.facts({ kind: 'listed snapshots', migrationId, every: periodUs, ...choice });
      return found.map(digestsOf);
    },
  };
}

function digestsOf({ recordTime, changesDigest, digest }: Snapshot): Digests {
  if (changesDigest !== null && digest !== null) return { recordTime, changesDigest, digest };
  throw new Error(`the snapshot at ${recordTime} is on the grid and has no digest; run \`holdfast verify\``);
}

/** Of one migration that both have. */
export interface Compared extends Range {
  readonly migrationId: number;
  /** The number of snapshots. */
  readonly compared: number;
  readonly firstDifferent: Micros | null;
  /** By `digest` everything since the first snapshot is compared, by `changes_digest` what changed in these intervals alone. */
  readonly by: 'digest' | 'changes_digest';
  /** The snapshot with which the later chain begins, which has everything in it and so is left out; null where there is none. */
  readonly leftOut: { readonly recordTime: Micros; readonly of: 'own' | 'other' } | null;
}

/** What to compare; null: as much as both have. */
export interface Wanted {
  readonly from: Micros | null;
  readonly to: Micros | null;
  /** Only the next page, behind a snapshot that is compared already; null: the first page. */
  readonly pageAfter?: Micros | null;
}

/**
 * Compares a migration over the times that both have; null where there are none. A text says why the two cannot be compared. Where
 * the last page was compared already, `other` is not asked.
 */
export async function compareMigration(
  replicas: { readonly own: Replica; readonly other: Replica },
  migrationId: number,
  wanted: Wanted,
): Promise<Compared | string | null> {
  const own = await chainOf(replicas.own, migrationId);
  const other = own === null || own.newest === wanted.pageAfter ? null : await chainOf(replicas.other, migrationId);
  if (own === null || other === null) return null;
  const { periodUs } = own;
  if (periodUs !== other.periodUs)
    return `other snapshot period: ${formatDuration(periodUs)} here, ${formatDuration(other.periodUs)} there`;
  if (own.dso !== null && other.dso !== null && own.dso !== other.dso)
    return `other DSO: ${own.dso} here, ${other.dso} there`;
  const begin = Math.max(own.first, other.first);
  const isBehind = wanted.from !== null && wanted.from > begin;
  const isOneStart = own.first === other.first;
  const leftOut =
    isOneStart || isBehind ? null : ({ recordTime: begin, of: own.first === begin ? 'own' : 'other' } as const);
  const first = isBehind ? Math.ceil(wanted.from! / periodUs) * periodUs : begin + (leftOut === null ? 0 : periodUs);
  const from = Math.max(first, (wanted.pageAfter ?? -Infinity) + periodUs);
  const pageEnd = wanted.pageAfter === undefined ? Infinity : from + (DIGESTS_AT_ONCE - 1) * periodUs;
  const to = Math.min(own.newest, other.newest, wanted.to ?? Infinity, pageEnd);
  const by = isOneStart && wanted.from === null ? 'digest' : 'changesDigest';
  let compared = 0;
  let last = from - 1;
  let firstDifferent: Micros | null = null;
  for (let rows = DIGESTS_AT_ONCE; rows === DIGESTS_AT_ONCE && last < to; ) {
    const choice = { from: last + 1, to, order: 'asc', rows } as const;
    const ours = await replicas.own.digests(own, choice);
    const theirs = await replicas.other.digests(other, choice);
    for (const [i, mine] of ours.entries()) {
      if (theirs[i]?.recordTime !== mine.recordTime) throw new Error(missing(mine, theirs[i]));
      if (mine[by] !== theirs[i][by]) firstDifferent ??= mine.recordTime;
      last = mine.recordTime;
    }
    compared += ours.length;
    rows = ours.length;
  }
  if (compared === 0) return null;
  const compareBy = by === 'digest' ? by : 'changes_digest';
  return { migrationId, from, to: last, compared, firstDifferent, by: compareBy, leftOut };
}

/** Null where it has no snapshot of that migration on the grid. */
async function chainOf(replica: Replica, migrationId: number): Promise<Chain | null> {
  const migration = await replica.migration(migrationId);
  if (migration === null) return null;
  const ever = { from: LEDGER_TIME_MIN, to: LEDGER_TIME_MAX, rows: 1 };
  const [first] = await replica.digests(migration, { ...ever, order: 'asc' });
  const [newest] = await replica.digests(migration, { ...ever, order: 'desc' });
  if (first === undefined || newest === undefined) return null;
  return { ...migration, first: first.recordTime, newest: newest.recordTime };
}

function missing({ recordTime }: Digests, theirs: Digests | undefined): string {
  const given = theirs === undefined ? 'none' : `one at ${formatTime(theirs.recordTime)}`;
  return `the other's snapshots have a gap: given ${given}, expected one at ${formatTime(recordTime)}`;
}
