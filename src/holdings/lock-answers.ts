import { formatAmount } from '../ledger/amount.ts';
import { formatTime, type Micros } from '../ledger/time.ts';
import {
  type Lock,
  type LockPlace,
  type LocksFacts,
  type LocksLookup,
  UNLOCKING_DAYS,
  type Unlocking,
} from './balance-facts.ts';
import type { HoldingsStore, Snapshot } from './facts.ts';
import { unknownToken } from './holdings-fault.ts';
import { instrumentIn, proofOf } from './instrument-answers.ts';
import { DAY_US } from './statement.ts';
import { type PageStart, pageOf, type TableQuery } from './table-question.ts';
import type { Row, Table } from './table-rows.ts';

/** The locked coins of an owner at a snapshot, in the order in which they unlock. Rejects with a HoldingsFault. */
export async function locksTable(
  query: TableQuery<'locks'>,
  { snapshot, fixed }: { readonly snapshot: Snapshot; readonly fixed: boolean },
  store: HoldingsStore,
): Promise<Table> {
  const { party, limit, after } = query;
  const { migrationId, recordTime } = snapshot;
  const instrument = instrumentIn(query);
  const lookup = { kind: 'locks', migrationId, recordTime, instrument, party, rows: limit + 1 } as const;
  const { locks, unlocking } = await store.facts({ ...lookup, after: after === null ? null : placeOf(after) });
  const page = { table: 'locks', query, migrationId, snapshot: recordTime } as const;
  const nameOf = ({ expiresAt, contractId }: Lock): string => `${expiresAt ?? ''} ${contractId}`;
  const { rows, next } = pageOf(locks, page, nameOf);
  const time = formatTime(recordTime);
  const sums = UNLOCKING_DAYS.map((days) => [`${days}d`, formatAmount(unlocking[days])]);
  return {
    head: { record_time: time, migration_id: migrationId, party_id: party, unlocking: Object.fromEntries(sums) },
    rowsName: 'locks',
    rows: rows.map((lock) => lockRow(lock, recordTime)),
    next,
    snapshotDigest: proofOf(snapshot, instrument),
    fixed,
    about: [party, `migration ${migrationId}`, time],
  };
}

function placeOf(after: PageStart): LockPlace {
  const [, time, contractId] = /^(-?\d{1,18}|) (.+)$/s.exec(after.last) ?? [];
  if (time === undefined || contractId === undefined) throw unknownToken(after);
  return { expiresAt: time === '' ? null : BigInt(time), contractId };
}

function lockRow({ contractId, amount, expiresAt, holders, context, createdAt }: Lock, recordTime: Micros): Row {
  return {
    contract_id: contractId,
    amount: formatAmount(amount),
    expires_at: expiresAt === null ? null : formatTime(expiresAt),
    holders,
    context,
    created_at: formatTime(createdAt),
    expired: expiresAt !== null && expiresAt <= BigInt(recordTime),
  };
}

/** Sums all locks of an owner as they are read, in any order, and keeps the rows of a page. */
export function createLockFold({ recordTime, after, rows }: LocksLookup) {
  const now = BigInt(recordTime);
  const unlocking: Record<keyof Unlocking, bigint> = { 1: 0n, 7: 0n, 30: 0n };
  let page: Lock[] = [];
  const drop = (): void => {
    page = page.sort(byPlace).slice(0, rows);
  };
  return {
    add(lock: Lock): void {
      const { amount, expiresAt } = lock;
      if (expiresAt !== null && expiresAt > now)
        for (const days of UNLOCKING_DAYS) if (expiresAt <= now + BigInt(days * DAY_US)) unlocking[days] += amount;
      if (after !== null && byPlace(lock, after) <= 0) return;
      if (page.push(lock) >= rows * 2) drop();
    },
    end(): LocksFacts {
      drop();
      return { locks: page, unlocking };
    },
  };
}

function byPlace(a: LockPlace, b: LockPlace): number {
  if (a.expiresAt === b.expiresAt) return Buffer.compare(Buffer.from(a.contractId), Buffer.from(b.contractId));
  if (a.expiresAt === null || b.expiresAt === null) return a.expiresAt === null ? 1 : -1;
  return a.expiresAt < b.expiresAt ? -1 : 1;
}
