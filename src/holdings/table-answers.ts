import { formatAmount } from '../ledger/amount.ts';
import { formatDuration } from '../ledger/duration.ts';
import { formatTime, type Micros, parseLedgerTime } from '../ledger/time.ts';
import { balancesTable, balanceTable } from './balance-answers.ts';
import type { ChangesFacts, HoldingsStore, Order, SealedMigration, Snapshot } from './facts.ts';
import { HoldingsFault, requireFollowed, snapshotFault, unknownToken } from './holdings-fault.ts';
import {
  instrumentIn,
  instrumentsTable,
  proofOf,
  requireInstrument,
  unreadableTable,
  withoutCoin,
} from './instrument-answers.ts';
import { locksTable } from './lock-answers.ts';
import { foundTable, movementsSince, movementsTable, statementTable } from './movement-answers.ts';
import { type Grid, isPartial, multiplesWithin, pointsOver, requireMultiple } from './snapshot-grid.ts';
import { type Given, type PageStart, pageOf, type TableQuery, type TableQuestion } from './table-question.ts';
import {
  changeRow,
  ownerRow,
  partialPointRow,
  pointRow,
  type Row,
  rankedRow,
  snapshotRow,
  type Table,
} from './table-rows.ts';

/** The requested table. Rejects with a HoldingsFault. */
export async function answerTable(asked: TableQuestion, store: HoldingsStore): Promise<Table> {
  if ('from' in asked.query) requireOrder(asked.query);
  const question = await withoutCoin(asked, store);
  if ('party' in question.query) await requireFollowed(store, [question.query.party]);
  switch (question.table) {
    case 'snapshots':
      return snapshotsTable(question.query, store);
    case 'owners':
      return ownersTable(question.query, store);
    case 'history':
      return historyTable(question.query, store);
    case 'changes':
      return changesTable(question.query, store);
    case 'top':
      return topTable(question.query, store);
    case 'movements':
    case 'all movements':
      return movementsTable(question, store);
    case 'balance':
      return balanceTable(question.query, store);
    case 'balances':
      return balancesTable(question.query, store);
    case 'statement':
      return statementTable(question.query, store);
    case 'locks':
      return locksTable(question.query, await findSnapshot(store, question.query, question.query.after), store);
    case 'instruments':
    case 'owner instruments':
      return instrumentsTable(question, await findSnapshot(store, question.query, question.query.after), store);
    case 'found':
      return foundTable(question.query, store);
    case 'unreadable':
      return unreadableTable(question.query, store);
  }
}

async function snapshotsTable(query: TableQuery<'snapshots'>, store: HoldingsStore): Promise<Table> {
  const { every, order: given, limit, after } = query;
  const order = given ?? 'desc';
  const migration = await findMigration(store, query, after);
  const { migrationId, periodUs, dso, importedAt } = migration;
  if (every !== null) requireMultiple(every, periodUs);
  const range = listedRange(migration, query, after);
  const lookup = { kind: 'listed snapshots', migrationId, every, order, rows: limit + 1 } as const;
  const found = await store.facts({ ...lookup, ...rangeAfter(range, order, after) });
  const page = { table: 'snapshots', query, migrationId, snapshot: range.to } as const;
  // The DSO may be known only later.
  const fixed = range.fixed && dso !== null;
  const { rows, next } = pageOf(found, page, ({ recordTime }) => formatTime(recordTime));
  const head = {
    migration_id: migrationId,
    period: formatDuration(periodUs),
    dso,
    seeded_at: importedAt === null ? null : formatTime(importedAt),
    ...movementsSince(migration),
  };
  return {
    head,
    rowsName: 'snapshots',
    rows: rows.map(snapshotRow),
    next,
    snapshotDigest: fixed ? null : migration.newest.digest,
    fixed,
    about: [`migration ${migrationId}`],
  };
}

async function ownersTable(query: TableQuery<'owners'>, store: HoldingsStore): Promise<Table> {
  const { prefix, limit, after } = query;
  const { snapshot, fixed } = await findSnapshot(store, query, after);
  const { migrationId, recordTime } = snapshot;
  const instrument = instrumentIn(query);
  const lookup = { migrationId, recordTime, instrument, prefix: prefix ?? '', rows: limit + 1 };
  const found = await store.facts({ kind: 'listed owners', ...lookup, after: after?.last ?? null });
  const page = { table: 'owners', query, migrationId, snapshot: recordTime } as const;
  const { rows, next } = pageOf(found, page, ({ party }) => party);
  const time = formatTime(recordTime);
  return {
    head: { record_time: time, migration_id: migrationId },
    rowsName: 'owners',
    rows: rows.map(ownerRow),
    next,
    snapshotDigest: proofOf(snapshot, instrument),
    fixed,
    about: [`migration ${migrationId}`, time],
  };
}

const RANK = /^\d{1,10}$/;

async function topTable(query: TableQuery<'top'>, store: HoldingsStore): Promise<Table> {
  const { limit, after } = query;
  const contains = query.contains ?? null;
  const by = query.by ?? 'total';
  const { snapshot, fixed } = await findSnapshot(store, query, after);
  const { migrationId, recordTime } = snapshot;
  const instrument = instrumentIn(query);
  if (after !== null && !RANK.test(after.last)) throw unknownToken(after);
  const skipped = Number(after?.last ?? 0);
  const at = { migrationId, recordTime, instrument };
  const { owners, unlocked, locked } =
    instrument === undefined ? snapshot : await requireInstrument(store, migrationId, instrument, recordTime);
  const ranked = (await store.facts({ kind: 'ranking', ...at }))[by];
  const wanted =
    contains === null
      ? null
      : new Set(await store.facts({ kind: 'owners containing', migrationId, instrument, text: contains }));
  const found: { readonly rank: number; readonly no: number }[] = [];
  for (let place = skipped; place < ranked.length && found.length <= limit; place++) {
    const no = ranked[place]!;
    if (wanted === null || wanted.has(no)) found.push({ rank: place + 1, no });
  }
  const token = { table: 'top', query, migrationId, snapshot: recordTime } as const;
  const { rows: owned, next } = pageOf(found, token, ({ rank }) => String(rank));
  const rows = await store.facts({ kind: 'numbered owners', ...at, owners: owned.map(({ no }) => no) });
  const supply = unlocked + locked;
  const time = formatTime(recordTime);
  return {
    head: { record_time: time, migration_id: migrationId, by, owners_total: owners, total: formatAmount(supply) },
    rowsName: 'owners',
    rows: rows.map((owner, i) => rankedRow(owner, { rank: owned[i]!.rank, by, supply })),
    next,
    snapshotDigest: proofOf(snapshot, instrument),
    fixed,
    about: ['by', by, `migration ${migrationId}`, time],
  };
}

/** An owner's totals at points in time, computed from the owner's changes, and at the last snapshot. */
async function historyTable(query: TableQuery<'history'>, store: HoldingsStore): Promise<Table> {
  const { party, every } = query;
  const instrument = instrumentIn(query);
  const migration = await findMigration(store, query, null);
  const { migrationId, periodUs } = migration;
  if (every !== null) requireMultiple(every, periodUs);
  const { fixed, ...range } = listedRange(migration, query, null);
  const end = { migrationId: BigInt(migrationId), recordTime: BigInt(range.to), match: 'at_or_before' } as const;
  const asked = { kind: 'owners', snapshot: end, owners: [party], round: null, instrument } as const;
  const { snapshot, owners } = await store.facts(asked);
  const last = snapshot === null || snapshot.recordTime < range.from ? null : snapshot.recordTime;
  const points = pointsOver({ ...multiplesWithin(range, periodUs), last }, every);
  const lookup = { kind: 'changes', migrationId, instrument, party, ...points, order: 'asc', rows: Infinity } as const;
  const rows = points.from > points.to ? [] : pointRows(points, await store.facts(lookup));
  if (isPartial(last, points)) rows.push(partialPointRow(last, owners[0]!));
  const step = formatDuration(points.step);
  return {
    head: { migration_id: migrationId, party_id: party, every: step },
    rowsName: 'points',
    rows,
    fixed,
    about: [party, `migration ${migrationId}`, `every ${step}`],
  };
}

function pointRows(points: Grid, { before, changes }: ChangesFacts): Row[] {
  const rows: Row[] = [];
  let totals = before;
  let next = 0;
  for (let time = points.from; time <= points.to; time += points.step) {
    for (; next < changes.length && changes[next]!.recordTime <= time; next++) totals = changes[next]!.after;
    rows.push(pointRow(time, totals));
  }
  return rows;
}

async function changesTable(query: TableQuery<'changes'>, store: HoldingsStore): Promise<Table> {
  const { party, order: given, limit, after } = query;
  const order = given ?? 'desc';
  const migration = await findMigration(store, query, after);
  const { migrationId, periodUs } = migration;
  const range = listedRange(migration, query, after);
  const grid = multiplesWithin(rangeAfter(range, order, after), periodUs);
  const instrument = instrumentIn(query);
  const { from, to } = grid;
  const about = { kind: 'changes', migrationId, instrument, party, from, to, order, rows: limit + 1 } as const;
  const changes = grid.from > grid.to ? [] : (await store.facts(about)).changes;
  const page = { table: 'changes', query, migrationId, snapshot: range.to } as const;
  const { rows, next } = pageOf(changes, page, ({ recordTime }) => formatTime(recordTime));
  return {
    head: { migration_id: migrationId, party_id: party },
    rowsName: 'changes',
    rows: rows.map(changeRow),
    next,
    snapshotDigest: range.fixed ? null : proofOf(migration.newest, instrument),
    fixed: range.fixed,
    about: [party, `migration ${migrationId}`],
  };
}

interface OfMigration extends Partial<Given<'instrument_admin' | 'instrument_id'>> {
  readonly migration_id: bigint | null;
}

/** The migration of a question: the newest that has a snapshot, unless a page token or the request names one. */
export async function findMigration(
  store: HoldingsStore,
  query: OfMigration,
  after: PageStart | null,
): Promise<SealedMigration> {
  const migrationId = after?.migrationId ?? query.migration_id;
  const found = await store.facts({ kind: 'migration', migrationId });
  if (found !== null) {
    const instrument = instrumentIn(query);
    if (instrument !== undefined) await requireInstrument(store, found.migrationId, instrument);
    return found;
  }
  throw new HoldingsFault(
    'no_snapshot_in',
    migrationId === null ? 'No snapshots found' : `No snapshots found in migration ${migrationId}`,
  );
}

/** The snapshot of a question: that of the page before, else the newest at or before the time. */
async function findSnapshot(
  store: HoldingsStore,
  query: OfMigration & { readonly record_time: bigint | null },
  after: PageStart | null,
): Promise<{ readonly snapshot: Snapshot; readonly fixed: boolean }> {
  const migration = await findMigration(store, query, after);
  const fixed = isFixed(migration, query, query.record_time);
  if (after === null && query.record_time === null) return { snapshot: migration.newest, fixed };
  const choice = {
    migrationId: BigInt(migration.migrationId),
    recordTime: after?.snapshot ?? query.record_time,
    match: after === null ? 'at_or_before' : 'exact',
  } as const;
  const snapshot = await store.facts({ kind: 'snapshot', snapshot: choice });
  if (snapshot !== null) return { snapshot, fixed };
  throw after === null ? snapshotFault(choice, migration.oldest) : unknownToken(after);
}

/** Nothing is ever added at or before the newest snapshot. */
function isFixed({ newest }: SealedMigration, { migration_id }: OfMigration, until: bigint | null): boolean {
  return migration_id !== null && until !== null && until <= BigInt(newest.recordTime);
}

/** Throws the fault of a range that ends before it begins, before anything is looked up. */
function requireOrder({ from, to }: { readonly from: bigint | null; readonly to: bigint | null }): void {
  if (from === null || to === null || from <= to) return;
  const expected = `a time at or before "to", which is ${formatTime(to)}`;
  throw new HoldingsFault('wrong_parameter', `from: given ${formatTime(from)}, expected ${expected}`);
}

/** Both inclusive; `from` is after `to` where there are no times. */
interface TimeRange {
  readonly from: Micros;
  readonly to: Micros;
}

/**
 * The times that a list may have, from the migration's first snapshot to its newest. All pages end at the first page's `to`,
 * which tokens hold. `fixed`: the same request will always have the same answer.
 */
function listedRange(
  migration: SealedMigration,
  { from, to, ...query }: OfMigration & { readonly from: bigint | null; readonly to: bigint | null },
  after: PageStart | null,
): TimeRange & { readonly fixed: boolean } {
  const oldest = migration.oldest.recordTime;
  const newest = after === null ? migration.newest.recordTime : Number(after.snapshot);
  if (after !== null && (newest < oldest || newest > migration.newest.recordTime)) throw unknownToken(after);
  // A time that a double cannot represent exactly is far after those of snapshots.
  return {
    from: Math.max(oldest, Number(from ?? oldest)),
    to: Math.min(newest, Number(to ?? newest)),
    fixed: isFixed(migration, query, to),
  };
}

/** As above, after the last row of the page before. */
function rangeAfter({ from, to }: TimeRange, order: Order, after: PageStart | null): TimeRange {
  if (after === null) return { from, to };
  const last = parseLedgerTime(after.last);
  if (last === null) throw unknownToken(after);
  return order === 'asc' ? { from: Math.max(from, last + 1), to } : { from, to: Math.min(to, last - 1) };
}
