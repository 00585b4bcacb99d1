import type { Database } from 'better-sqlite3';
import type { Change, Snapshot } from '../../holdings/facts.ts';
import type { InstrumentName } from '../../holdings/instrument.ts';
import type { Amounts, OwnersMovement, UpdateHistory } from '../../holdings/movement-facts.ts';
import { gridOf, multiplesWithin } from '../../holdings/snapshot-grid.ts';
import { DAY_US } from '../../holdings/statement.ts';
import { formatTime, type Micros } from '../../ledger/time.ts';
import { openForReading } from '../store/database.ts';
import { decodeNumbers } from '../store/stored-rows.ts';
import { readChanges } from './insight-reader.ts';
import { createMovementReader, type Moment, OF_MIGRATION, plus, UPDATE } from './movement-reader.ts';
import { type Account, createAccountReader, createVersionReader } from './owner-versions.ts';
import { createGridReader, createSnapshotReader } from './stored-snapshots.ts';
import type { UpdateRow } from './update-effects.ts';

/** What may be exported, of all migrations and instruments. The coin's instrument is named as a token's is. */
export interface ExportedFacts {
  readonly movements: OwnersMovement;
  /** An owner's changes in snapshots of the grid. */
  readonly totals: Change & Pick<OwnersMovement, 'migrationId' | 'party' | 'instrument'>;
  readonly snapshots: Snapshot;
}

/** Facts by UTC days. */
export interface ExportedDays<Fact> {
  /** Times within the first and the last day; `from` is after `to` where there are none. */
  readonly from: Micros;
  readonly to: Micros;
  /** Of the day that begins then, in order: one for each migration that has facts in it. */
  partsOf(day: Micros): readonly DayPart<Fact>[];
}

interface DayPart<Fact> {
  /** What its facts follow from: the same has the same facts. */
  readonly source: string;
  readonly read: () => Iterable<readonly Fact[]>;
}

export interface ExportReader extends Disposable {
  /** Identifies the directory. */
  readonly store: string;
  /** Of each migration that has an update other than an import. */
  readonly histories: readonly UpdateHistory[];
  readonly days: { readonly [Kind in keyof ExportedFacts]: () => ExportedDays<ExportedFacts[Kind]> };
}

type NamedInstrument = InstrumentName & { readonly isCoin: number };

/** Some milliseconds in a transaction. A long one would keep the write-ahead log from being cut. */
const ROWS_AT_ONCE = 500;
/** Some 30 MB. */
const BALANCES_MAX = 200_000;

/**
 * Opens views.db to export it as of now: updates up to the last number, and sealed snapshots. These never change, so all that is read
 * is of one moment, although no transaction lasts.
 */
export function openExport(dataDir: string): ExportReader {
  const db = openForReading(dataDir);
  const atOnce = <T>(read: () => T): T => db.transaction(read)();
  const accounts = createAccountReader(db);
  const versions = createVersionReader(db);
  const snapshots = createSnapshotReader(db);
  const movements = createMovementReader(db, { accounts, versions, hasTokens: () => true });
  const migrationIds = db.prepare<[], number>('SELECT migration_id FROM migration ORDER BY migration_id').pluck();
  const { store, histories, sealed } = atOnce(() => ({
    store: db.prepare<[], string>('SELECT directory_id FROM setting').pluck().get()!,
    histories: migrationIds.all().flatMap((migrationId) => movements.history(BigInt(migrationId)) ?? []),
    sealed: snapshots.newest().map(({ migrationId }) => snapshots.migration(BigInt(migrationId))!),
  }));

  function movementDays(): ExportedDays<OwnersMovement> {
    const readBatch = createBatchReader(db, movements);
    return {
      from: Math.min(...histories.map(({ begin, movementsSince }) => movementsSince ?? begin + 1)),
      to: Math.max(...histories.map(({ appliedTo }) => appliedTo)),
      partsOf: (day) =>
        histories.flatMap(({ migrationId, lastUpdateNo }) => {
          const endOf = (time: Micros) => atOnce(() => movements.momentAt(migrationId, time).no);
          const [after, to] = [endOf(day - 1), Math.min(endOf(day + DAY_US - 1), lastUpdateNo)];
          if (after >= to) return [];
          const followed = movements.isLimited() ? ' of followed owners' : '';
          function* read() {
            // Of accounts, after their last movement within the day.
            const balances = new Map<number, Amounts>();
            for (let last = after; last < to; ) {
              const batch = atOnce(() => readBatch({ migrationId, after: last, to }, balances));
              yield batch.facts;
              last = batch.last;
            }
          }
          return [{ source: `migration ${migrationId}: updates ${after + 1}-${to}${followed}`, read }];
        }),
    };
  }

  function totalDays(): ExportedDays<ExportedFacts['totals']> {
    const gridIn = createGridReader(db);
    const accountsIn = db
      .prepare<[number, number, number], number>(
        'SELECT DISTINCT account FROM total WHERE epoch = ? + 0 AND seq > ? AND seq <= ?',
      )
      .pluck();
    const accountOf = db.prepare<[number], NamedInstrument & { readonly of: number; readonly party: string }>(
      `SELECT i.migration_id AS "of", admin, name AS id, i.id IS coin AS isCoin, owner AS party
       FROM account a JOIN instrument i ON i.id = instrument JOIN migration USING (migration_id) WHERE a.id = ? + 0`,
    );
    return {
      ...rangeOf(sealed.map(gridOf)),
      partsOf: (day) =>
        sealed.flatMap((migration) => {
          const { migrationId } = migration;
          const { from, to, step } = gridOf(migration);
          const times = multiplesWithin({ from: Math.max(day, from), to: Math.min(day + DAY_US - 1, to) }, step);
          if (times.from > times.to) return [];
          function* read() {
            const grid = atOnce(() => gridIn(migration)!);
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
            for (let at = 0; at < nos.length; at += ROWS_AT_ONCE)
              yield atOnce(() => [...nos.subarray(at, at + ROWS_AT_ONCE)].flatMap(changesOf));
          }
          return [{ source: `migration ${migrationId}: snapshots to ${formatTime(times.to)}`, read }];
        }),
    };
  }

  const snapshotDays = (): ExportedDays<Snapshot> => ({
    ...rangeOf(sealed.map(({ oldest, newest }) => ({ from: oldest.recordTime, to: newest.recordTime }))),
    partsOf: (day) =>
      sealed.flatMap(({ migrationId, newest }) => {
        const range = { from: day, to: Math.min(day + DAY_US - 1, newest.recordTime) };
        const listed = snapshots.list({ migrationId, ...range, every: null, order: 'asc', rows: -1 });
        const last = listed.at(-1);
        if (last === undefined) return [];
        return [{ source: `migration ${migrationId}: to ${formatTime(last.recordTime)}`, read: () => [listed] }];
      }),
  });

  return {
    store,
    histories,
    days: { movements: movementDays, totals: totalDays, snapshots: snapshotDays },
    [Symbol.dispose]: () => void db.close(),
  };
}

function rangeOf(ranges: readonly { readonly from: Micros; readonly to: Micros }[]) {
  return { from: Math.min(...ranges.map(({ from }) => from)), to: Math.max(...ranges.map(({ to }) => to)) };
}

/** Reads the movements of the next updates in a range of numbers, the first excluded. */
function createBatchReader(db: Database, movements: ReturnType<typeof createMovementReader>) {
  const updates = db.prepare<[number, number, number, number], UpdateRow>(
    `SELECT ${UPDATE} FROM ledger_update u WHERE no > ? + 0 AND no <= ? + 0 AND ${OF_MIGRATION} ORDER BY no LIMIT ?`,
  );
  const instrumentsOf = db.prepare<[string], NamedInstrument>(
    `SELECT DISTINCT admin, name AS id, i.id IS coin AS isCoin FROM json_each(?) j CROSS JOIN account a ON a.id = j.value
     JOIN instrument i ON i.id = instrument JOIN migration USING (migration_id) ORDER BY i.id`,
  );

  return (
    { migrationId, after, to }: { readonly migrationId: number; readonly after: number; readonly to: number },
    balances: Map<number, Amounts>,
  ): { readonly facts: readonly OwnersMovement[]; readonly last: number } => {
    function balanceAfter(account: Account, change: Amounts, moment: Moment): Amounts {
      const before = balances.get(account.no);
      const balance = before === undefined ? movements.balancesOf([account])(moment) : plus(before, change);
      balances.delete(account.no);
      if (balances.size >= BALANCES_MAX) balances.delete(balances.keys().next().value!);
      balances.set(account.no, balance);
      return balance;
    }

    const rows = updates.all(after, to, migrationId, ROWS_AT_ONCE);
    const facts: OwnersMovement[] = [];
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
      for (const { isCoin, ...instrument } of instrumentsOf.all(JSON.stringify(decodeNumbers(row.accounts)))) {
        const of = { migrationId, instrument: isCoin === 1 ? undefined : instrument };
        const effects = movements.effectsOf({ ...row, epoch }, of);
        for (const [place, { account, change }] of effects.moved.entries()) {
          const balance = balanceAfter(account, change, { no: row.updateNo, interval });
          facts.push({ ...movements.complete(row, effects, { place, after: balance }), migrationId, instrument });
        }
      }
    }
    return { facts, last: rows.length < ROWS_AT_ONCE ? to : rows.at(-1)!.updateNo };
  };
}
