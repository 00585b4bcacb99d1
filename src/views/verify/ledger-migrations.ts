import { HALF_SEED } from '../write/state.ts';
import { timesIn } from './positions.ts';
import { verifySynchronizers } from './synchronizers.ts';
import { differsIn, isLedgerTime, timeText, type VerifyContext } from './types.ts';

interface MigrationRow {
  readonly migrationId: bigint;
  readonly openSeq: bigint;
  readonly timeReached: bigint | null;
  readonly updateTime: bigint | null;
  readonly nextGrid: bigint | null;
  readonly seededAt: bigint | null;
  readonly seedTimes: string;
  readonly seedOffset: bigint | null;
  /** The largest last record time of its synchronizers. */
  readonly lastTime: bigint | null;
}

interface SnapshotRow {
  readonly recordTime: bigint;
  readonly seq: bigint;
  readonly no: bigint;
  readonly forced: bigint;
  /** Whether it has no digest at all. */
  readonly bare: bigint;
}

/** Each migration's clock, and its snapshots: numbered without gaps in the order of their times, with every time of the grid. */
export function verifyMigrations(context: VerifyContext): void {
  const { db } = context;
  const period = db.prepare<[], bigint>('SELECT period FROM setting').pluck().get() ?? 0n;
  const migrations = db.prepare<[], MigrationRow>(
    `SELECT m.migration_id AS migrationId, open_seq AS openSeq, time_reached AS timeReached, update_time AS updateTime,
       next_grid AS nextGrid, seeded_at AS seededAt, seed_times AS seedTimes, seed_offset AS seedOffset,
       (SELECT max(record_time) FROM synchronizer s WHERE s.migration_id = m.migration_id) AS lastTime
     FROM migration m ORDER BY m.migration_id`,
  );
  const snapshots = db.prepare<[bigint], SnapshotRow>(
    `SELECT record_time AS recordTime, seq, no, forced, changes_digest IS NULL AND digest IS NULL AS bare
     FROM snapshot WHERE migration_id = ? ORDER BY record_time`,
  );
  for (const table of ['snapshot', 'synchronizer']) {
    const orphans = db.prepare<[], bigint>(
      `SELECT DISTINCT migration_id FROM ${table} WHERE migration_id NOT IN (SELECT migration_id FROM migration)`,
    );
    for (const id of orphans.pluck().all())
      differsIn(context, table, `migration ${id}`)('a row of that migration', 'none');
  }
  const places = db.prepare<[], { count: bigint; last: bigint }>(
    'SELECT count(*) AS count, coalesce(max(no), 0) AS last FROM snapshot',
  );
  const { count, last } = places.get()!;
  // Each number is there once, and none is below 1.
  if (count !== last) differsIn(context, 'snapshot')(`no from 1 to ${count}`, `up to ${last}`);
  verifySynchronizers(context);
  for (const row of migrations.all()) {
    const sealed = verifySnapshots(context, row, { rows: snapshots.iterate(row.migrationId), period });
    verifySeed(context, row);
    verifyClock(context, row, sealed, period);
  }
}

interface Sealed {
  readonly count: bigint;
  readonly last: bigint | null;
  /** The newest time on the grid. */
  readonly lastGrid: bigint | null;
}

function verifySnapshots(
  context: VerifyContext,
  { migrationId }: MigrationRow,
  { rows, period }: { rows: Iterable<SnapshotRow>; period: bigint },
): Sealed {
  let count = 0n;
  let last: bigint | null = null;
  let lastNo = 0n;
  let lastGrid: bigint | null = null;
  for (const { recordTime, seq, no, forced, bare } of rows) {
    const differs = differsIn(context, 'snapshot', `migration ${migrationId}, ${timeText(recordTime)}`);
    count += 1n;
    if (seq !== count) differs(`seq ${count}, in the order of times`, seq);
    if (no <= lastNo) differs(`no above ${lastNo}, in the order of times`, no);
    lastNo = no;
    if (!isLedgerTime(recordTime)) differs('a time in 1970-2200', recordTime);
    if (forced !== 0n && forced !== 1n) differs('forced 0 or 1', forced);
    const isGrid = period > 0n && recordTime % period === 0n;
    if (forced === 0n && !isGrid) differs('a time on the grid of the period in setting', timeText(recordTime));
    if (forced === 1n && isGrid) differs('a time off the grid, as it was forced', timeText(recordTime));
    if (forced === 1n && bare === 0n) differs('no digest, as it was forced', 'one');
    if (isGrid) {
      if (lastGrid !== null && recordTime !== lastGrid + period)
        differs(
          `the grid time before it, ${timeText(recordTime - period)}, to be sealed, by the period in setting`,
          'a gap',
        );
      lastGrid = recordTime;
    }
    last = recordTime;
  }
  return { count, last, lastGrid };
}

/** The seed that a migration begins with: all of it, half of it, or none. */
function verifySeed(
  context: VerifyContext,
  { migrationId, timeReached, seededAt, seedTimes, seedOffset }: MigrationRow,
): void {
  const differs = differsIn(context, 'migration', `migration ${migrationId}`);
  const times = timesIn(seedTimes);
  if (times === null) differs('seed_times as JSON, a time of each synchronizer', seedTimes);
  if (seededAt !== null && isLedgerTime(seededAt)) {
    if (seedOffset !== null && seedOffset < 0n) differs('seed_offset >= 0', seedOffset);
    return;
  }
  const isHalf = seededAt === BigInt(HALF_SEED);
  if (seededAt !== null && !isHalf) differs('seeded_at in 1970-2200, -1 for half a seed, or none', seededAt);
  if (isHalf && timeReached !== null) differs('no time reached after half a seed', timeText(timeReached));
  if (seedOffset !== null) differs('no seed_offset, because it has no whole seed', seedOffset);
  if (times !== null && times.length > 0) differs('no seed_times, because it has no whole seed', seedTimes);
}

function verifyClock(
  context: VerifyContext,
  { migrationId, openSeq, timeReached, updateTime, nextGrid, seededAt, seedTimes, lastTime }: MigrationRow,
  { count, last, lastGrid }: Sealed,
  period: bigint,
): void {
  const differs = differsIn(context, 'migration', `migration ${migrationId}`);
  if (openSeq !== count + 1n) differs(`open_seq ${count + 1n}, after its ${count} snapshots`, openSeq);
  if (updateTime !== lastTime)
    differs(`update_time ${shown(lastTime)}, the last of its synchronizers`, shown(updateTime));
  // Half a seed has no time.
  const begun = updateTime ?? (seededAt === BigInt(HALF_SEED) ? null : seededAt);
  if (timeReached === null || begun === null || nextGrid === null) {
    if (timeReached !== begun || nextGrid !== null)
      differs('no time at all before its first update', shown(timeReached));
    if (count > 0n) differs('no snapshot before its first update', `${count}`);
    return;
  }
  if (timeReached < begun) differs(`time_reached from ${shown(begun)} on`, shown(timeReached));
  const covered = (timesIn(seedTimes) ?? []).reduce(
    (least, time) => (time < least ? BigInt(time) : least),
    seededAt ?? begun,
  );
  if (begun < covered) differs(`update_time after its seed, ${shown(covered)}`, shown(begun));
  if (timeReached < (last ?? 0n))
    differs(`time_reached from ${shown(last)} on, its newest snapshot`, shown(timeReached));
  if (period <= 0n) return;
  const isNext = nextGrid % period === 0n && nextGrid >= timeReached && nextGrid - period <= timeReached;
  if (!isNext) differs(`next_grid to be the grid time at or after ${shown(timeReached)}`, shown(nextGrid));
  else if (lastGrid !== null && nextGrid !== lastGrid + period)
    differs(`next_grid ${shown(lastGrid + period)}, after the newest snapshot on the grid`, shown(nextGrid));
}

function shown(time: bigint | null): string {
  return time === null ? 'none' : timeText(time);
}
