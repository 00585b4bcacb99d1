import { formatAmount } from '../../ledger/amount.ts';
import { formatTime } from '../../ledger/time.ts';
import type { HoldingsStore } from '../facts.ts';
import { pageOf } from './page-token.ts';
import { findSnapshot, unknownToken } from './place.ts';
import type { OwnersQuery, TopQuery } from './question.ts';
import { OWNER_COLUMNS, ownerRow, RANKED_COLUMNS, rankedRow } from './rows.ts';
import type { Table } from './table.ts';

/** Every owner who had coin up to a snapshot, with the totals at it. */
export async function ownersTable(query: OwnersQuery, store: HoldingsStore): Promise<Table> {
  const { prefix, limit, after } = query;
  const { snapshot, fixed } = await findSnapshot(store, query, after);
  const { migrationId, recordTime } = snapshot;
  const found = await store.facts({
    kind: 'listed owners',
    migrationId,
    recordTime,
    prefix: prefix ?? '',
    after: after?.last ?? null,
    rows: limit + 1,
  });
  const place = { table: 'owners', query, migrationId, snapshot: recordTime } as const;
  const { rows, next } = pageOf(found, place, ({ party }) => party);
  const time = formatTime(recordTime);
  return {
    head: { record_time: time, migration_id: migrationId },
    rowsName: 'owners',
    columns: OWNER_COLUMNS,
    rows: rows.map(ownerRow),
    next,
    snapshotDigest: snapshot.digest,
    fixed,
    about: [`migration ${migrationId}`, time],
  };
}

const RANK = /^\d{1,10}$/;

/** The owners with coin at a snapshot, the largest first. */
export async function topTable(query: TopQuery, store: HoldingsStore): Promise<Table> {
  const { limit, after } = query;
  const by = query.by ?? 'total';
  const { snapshot, fixed } = await findSnapshot(store, query, after);
  const { migrationId, recordTime, owners, unlocked, locked } = snapshot;
  if (after !== null && !RANK.test(after.last)) throw unknownToken(after);
  const skipped = Number(after?.last ?? 0);
  const place = { migrationId, recordTime };
  const ranked = (await store.facts({ kind: 'ranking', ...place }))[by];
  const page = [...ranked.subarray(skipped, skipped + limit + 1)];
  const token = { table: 'top', query, migrationId, snapshot: recordTime } as const;
  const { rows: numbers, next } = pageOf(page, token, (_, at) => String(skipped + at + 1));
  const rows = await store.facts({ kind: 'numbered owners', ...place, owners: numbers });
  const supply = unlocked + locked;
  const time = formatTime(recordTime);
  return {
    head: { record_time: time, migration_id: migrationId, by, owners_total: owners, total_coin: formatAmount(supply) },
    rowsName: 'owners',
    columns: RANKED_COLUMNS,
    rows: rows.map((owner, i) => rankedRow(owner, { rank: skipped + i + 1, by, supply })),
    next,
    snapshotDigest: snapshot.digest,
    fixed,
    about: ['by', by, `migration ${migrationId}`, time],
  };
}
