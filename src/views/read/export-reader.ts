import type { Change, Snapshot } from '../../holdings/facts.ts';
import type { InstrumentName } from '../../holdings/instrument.ts';
import type { Amounts, OwnersMovement } from '../../holdings/movement-facts.ts';
import { gridOf, multiplesWithin } from '../../holdings/snapshot-grid.ts';
import { DAY_US } from '../../holdings/statement.ts';
import type { Micros } from '../../ledger/time.ts';
import { openForReading } from '../store/database.ts';
import { decodeNumbers } from '../store/stored-rows.ts';
import { readChanges } from './insight-reader.ts';
import { createMovementReader, type Moment, OF_MIGRATION, plus, UPDATE } from './movement-reader.ts';
import { createAccountReader, createVersionReader } from './owner-versions.ts';
import { createGridReader, createSnapshotReader } from './stored-snapshots.ts';
import { prepareTokensExist, type UpdateRow } from './update-effects.ts';

/** The coin's instrument is named as a token's is. */
export interface ExportedFacts {
  readonly movements: OwnersMovement;
  /** An owner's changes in snapshots of the grid. */
  readonly totals: Change & Pick<OwnersMovement, 'migrationId' | 'party' | 'instrument'>;
  readonly snapshots: Snapshot;
}

/** A migration by UTC days. */
export interface ExportedMigration<Fact> {
  /** Times within its first and its last day. */
  readonly from: Micros;
  readonly to: Micros;
  /** The day that begins then: what its facts follow from, so that the same has the same facts, and they themselves. Null for none. */
  readonly dayAt: (day: Micros) => { readonly source: string; readonly read: () => Iterable<readonly Fact[]> } | null;
}

type Exports = { readonly [Kind in keyof ExportedFacts]: readonly ExportedMigration<ExportedFacts[Kind]>[] };

type NamedInstrument = InstrumentName & { readonly isCoin: number };

/** Some milliseconds in a transaction: a long one would keep the write-ahead log from being cut. */
const ROWS_AT_ONCE = 500;
/** Some 30 MB. */
const BALANCES_MAX = 200_000;

/**
 * Opens views.db to export it as of now: updates up to the last number, and sealed snapshots. These never change, so all that is read
 * is of one moment, although no transaction lasts.
 */
export function openExport(dataDir: string, { rowsAtOnce = ROWS_AT_ONCE, balancesMax = BALANCES_MAX } = {}) {
  const db = openForReading(dataDir);
  const atOnce = <T>(read: () => T): T => db.transaction(read)();
  const accounts = createAccountReader(db);
  const versions = createVersionReader(db);
  const snapshots = createSnapshotReader(db);
  const gridIn = createGridReader(db);
  // A token that comes later is in no update of the export.
  const tokensExist = prepareTokensExist(db)();
  const movements = createMovementReader(db, { accounts, versions, hasTokens: () => tokensExist });
  const migrationIds = db.prepare<[], number>('SELECT migration_id FROM migration ORDER BY migration_id').pluck();
  const updates = db.prepare<[number, number, number, number], UpdateRow>(
    `SELECT ${UPDATE} FROM ledger_update u WHERE no > ? + 0 AND no <= ? + 0 AND ${OF_MIGRATION} ORDER BY no LIMIT ?`,
  );
  const NAMED = 'admin, name AS id, i.id IS coin AS isCoin';
  const coinOf = db.prepare<[number], NamedInstrument>(
    `SELECT ${NAMED} FROM migration JOIN instrument i ON i.id = coin WHERE migration.migration_id = ? + 0`,
  );
  const instrumentsOf = db.prepare<[string], NamedInstrument>(
    `SELECT DISTINCT ${NAMED} FROM json_each(?) j CROSS JOIN account a ON a.id = j.value
     JOIN instrument i ON i.id = instrument JOIN migration USING (migration_id) ORDER BY i.id`,
  );
  const accountsIn = db
    .prepare<[number, number, number], number>(
      'SELECT DISTINCT account FROM total WHERE epoch = ? + 0 AND seq > ? AND seq <= ?',
    )
    .pluck();
  const accountOf = db.prepare<[number], NamedInstrument & { readonly of: number; readonly party: string }>(
    `SELECT i.migration_id AS "of", ${NAMED}, owner AS party
     FROM account a JOIN instrument i ON i.id = instrument JOIN migration USING (migration_id) WHERE a.id = ? + 0`,
  );

  /** The movements of updates after a number, up to another. */
  function* movementsIn(migrationId: number, { after, to }: { readonly after: number; readonly to: number }) {
    /** Of accounts, after the last movement that was read. */
    const balances = new Map<number, Amounts>();
    const coin = coinOf.all(migrationId);
    function* movementsOf(rows: readonly UpdateRow[]): Generator<OwnersMovement> {
      // That of this transaction: the open one grows.
      let interval: Moment['interval'] | null = null;
      let epoch: number | null = null;
      for (const row of rows) {
        if (interval === null || row.countedAt > interval.end) {
          interval = movements.intervalAt(migrationId, row.countedAt);
          epoch = null;
        }
        epoch ??= movements.epochOf(row, interval);
        if (epoch === null) continue;
        const moved = tokensExist ? instrumentsOf.all(JSON.stringify(decodeNumbers(row.accounts))) : coin;
        for (const { isCoin, ...instrument } of moved) {
          const of = { migrationId, instrument: isCoin === 1 ? undefined : instrument };
          const effects = movements.effectsOf({ ...row, epoch }, of);
          for (const [place, { account, change }] of effects.moved.entries()) {
            const before = balances.get(account.no);
            const moment = { no: row.updateNo, interval };
            const after = before === undefined ? movements.balancesOf([account])(moment) : plus(before, change);
            balances.delete(account.no);
            balances.set(account.no, after);
            if (balances.size > balancesMax) balances.delete(balances.keys().next().value!);
            yield { ...movements.complete(row, effects, { place, after }), migrationId, instrument };
          }
        }
      }
    }
    for (let last = after; last < to; ) {
      const [rows, found] = atOnce(() => {
        const rows = updates.all(last, to, migrationId, rowsAtOnce);
        return [rows, [...movementsOf(rows)]] as const;
      });
      yield found;
      last = rows.at(-1)?.updateNo ?? to;
    }
  }

  /** The changes of all owners in snapshots of the grid. */
  function* totalsIn(migrationId: number, times: { readonly from: Micros; readonly to: Micros }) {
    const grid = atOnce(() => gridIn(snapshots.migration(BigInt(migrationId))!)!);
    const [after, end] = [grid.before(times.from), grid.at(times.to)];
    const changed = new Set<number>();
    for (let { epoch } = after; epoch <= end.epoch; epoch++)
      for (const no of accountsIn.iterate(epoch, after.seq, end.seq)) changed.add(no);
    const changesOf = (no: number): ExportedFacts['totals'][] => {
      const { of, admin, id, isCoin, party } = accountOf.get(no)!;
      if (of !== migrationId || party === '') return [];
      const instrument = { admin, id };
      const own = accounts.ofParty({ migrationId, instrument: isCoin === 1 ? undefined : instrument }, party);
      // A party may have several accounts.
      if (own.find((each) => changed.has(each.no))!.no !== no) return [];
      const { changes } = readChanges(versions, own, { ...times, order: 'asc', rows: Infinity, grid });
      return changes.map((change) => ({ migrationId, party, instrument, ...change }));
    };
    const nos = Uint32Array.from(changed).sort();
    for (let at = 0; at < nos.length; at += rowsAtOnce)
      yield atOnce(() => [...nos.subarray(at, at + rowsAtOnce)].flatMap(changesOf));
  }

  return atOnce(() => {
    const histories = migrationIds.all().flatMap((migrationId) => movements.history(BigInt(migrationId)) ?? []);
    const sealed = snapshots.newest().map(({ migrationId }) => snapshots.migration(BigInt(migrationId))!);
    const followed = movements.isLimited() ? ' of followed owners' : '';
    const migrations: Exports = {
      movements: histories.map(({ migrationId, begin, movementsSince, appliedTo, lastUpdateNo }) => ({
        ...{ from: movementsSince ?? begin + 1, to: appliedTo },
        dayAt(day) {
          const endOf = (time: Micros): number => atOnce(() => movements.momentAt(migrationId, time).no);
          const range = { after: endOf(day - 1), to: Math.min(endOf(day + DAY_US - 1), lastUpdateNo) };
          const source = `migration ${migrationId}: updates ${range.after + 1} to ${range.to}${followed}`;
          return range.after < range.to ? { source, read: () => movementsIn(migrationId, range) } : null;
        },
      })),
      totals: sealed.map((migration) => ({
        ...gridOf(migration),
        dayAt(day) {
          const { from, to, step } = gridOf(migration);
          const times = multiplesWithin({ from: Math.max(day, from), to: Math.min(day + DAY_US - 1, to) }, step);
          const source = `migration ${migration.migrationId}: snapshots to ${times.to}`;
          return times.from > times.to ? null : { source, read: () => totalsIn(migration.migrationId, times) };
        },
      })),
      snapshots: sealed.map(({ migrationId, oldest, newest }) => ({
        ...{ from: oldest.recordTime, to: newest.recordTime },
        dayAt(day) {
          const range = { from: day, to: Math.min(day + DAY_US - 1, newest.recordTime) };
          const listed = snapshots.list({ migrationId, ...range, every: null, order: 'asc', rows: -1 });
          const source = `migration ${migrationId}: snapshots to ${listed.at(-1)?.recordTime}`;
          return listed.length === 0 ? null : { source, read: () => [listed] };
        },
      })),
    };
    const store = db.prepare<[], string>('SELECT directory_id FROM setting').pluck().get()!;
    return { store, histories, migrations, [Symbol.dispose]: () => void db.close() };
  });
}
