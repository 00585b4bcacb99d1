import {
  type Change,
  type ChangesFacts,
  type ChangesLookup,
  type CoinSums,
  type ContractFacts,
  type Lookup,
  NO_COIN,
  type OwnerFacts,
  type OwnerSums,
  type OwnersChangesLookup,
  type OwnersFacts,
  type PageFacts,
  type SealedSnapshot,
  type SnapshotChoice,
  sameTotals,
  type Totals,
} from '../holdings/facts.ts';
import type { TimeQuery } from '../holdings/question.ts';
import { multiplesWithin } from '../holdings/snapshot-grid.ts';
import { mayHaveExpired, NO_COINS } from '../holdings/summary-answer.ts';
import { type CoinColumns, type CoinContent, coinContent } from '../ledger/coin.ts';
import { coinEntity, PACKAGE_NAME } from '../ledger/templates.ts';
import type { Ask } from './statement-pool.ts';

/** An amount in 1e-10 units. */
const UNITS = (column: string): string => `trunc(${column} * 10000000000)`;

export interface StoredSnapshot extends SealedSnapshot {
  readonly seq: number;
}

/** Look-ups of sealed snapshots, of a store with this period. Times that are requested may be of any year. */
export function createSnapshotReader(ask: Ask, periodUs: number) {
  const period = BigInt(periodUs);

  const rows = (rest: string, values: readonly unknown[] = []): Promise<readonly StoredSnapshot[]> =>
    ask(
      `SELECT migration_id AS "migrationId", seq * ${period} AS "recordTime", seq, no, 0 AS "updateNo", false AS forced, coins AS contracts, owners,
         ${UNITS('unlocked')} AS unlocked, ${UNITS('locked')} AS locked,
         encode(changes_digest, 'hex') AS "changesDigest", encode(digest, 'hex') AS digest, NULL AS "tokensChangesDigest", NULL AS "tokensDigest"
       FROM snapshot ${rest}`,
      values,
    );
  const first = async (rest: string, values: readonly unknown[] = []): Promise<StoredSnapshot | null> =>
    (await rows(`${rest} LIMIT 1`, values))[0] ?? null;

  /** The largest migration seen. */
  async function lastMigration(): Promise<number | null> {
    const [row] = await ask<{ last: number | null }>('SELECT max(migration_id) AS last FROM snapshot_control');
    return row!.last;
  }

  return {
    rows,
    first,
    lastMigration,
    async find({ migrationId, recordTime, match }: SnapshotChoice): Promise<StoredSnapshot | null> {
      const migration = migrationId ?? (await lastMigration());
      if (migration === null) return null;
      const newest = 'ORDER BY seq DESC';
      if (recordTime === null) return first(`WHERE migration_id = $1::bigint ${newest}`, [migration]);
      const seq = floorDiv(recordTime, period);
      if (match === 'exact' && seq * period !== recordTime) return null;
      const operator = match === 'exact' ? '=' : '<=';
      return first(`WHERE migration_id = $1::bigint AND seq ${operator} $2::bigint ${newest}`, [migration, seq]);
    },
    async after({ migrationId, recordTime }: TimeQuery): Promise<StoredSnapshot | null> {
      const within = 'WHERE migration_id = $1::bigint AND seq > $2::bigint ORDER BY seq';
      const larger = 'WHERE migration_id > $1::bigint ORDER BY migration_id, seq';
      return (await first(within, [migrationId, floorDiv(recordTime, period)])) ?? first(larger, [migrationId]);
    },
    newest: () =>
      rows('WHERE (migration_id, seq) IN (SELECT migration_id, max(seq) FROM snapshot GROUP BY 1) ORDER BY 1'),
    all: () => rows('ORDER BY migration_id, seq'),
  };
}

export type SnapshotReader = ReturnType<typeof createSnapshotReader>;

function floorDiv(value: bigint, by: bigint): bigint {
  return (value - (((value % by) + by) % by)) / by;
}

const SUMS = (side: 'u' | 'l'): string =>
  `CASE WHEN ${side}_coins IS NOT NULL THEN ARRAY[${side}_coins, ${UNITS(`${side}_amount`)}, ${UNITS(`${side}_rate`)}, ${UNITS(`${side}_rate_round`)}]::text[] END AS ${side}`;

/** Owners' sums at a snapshot: a seek for each, and the expired coins of those that may have some. */
export function createOwnersReader(ask: Ask, snapshots: SnapshotReader) {
  async function lowestOpenRound(): Promise<bigint | null> {
    const [row] = await ask<{ round: number | bigint | null }>(
      `SELECT min(round) AS round FROM round_opened o WHERE migration_id = (SELECT max(migration_id) FROM snapshot_control)
         AND NOT EXISTS (SELECT FROM round_archived x WHERE x.migration_id = o.migration_id AND x.contract_id = o.contract_id)`,
    );
    return row!.round === null ? null : BigInt(row!.round);
  }

  async function expiredOf(
    snapshot: StoredSnapshot,
    owners: readonly string[],
    round: bigint,
  ): Promise<Map<string, NonNullable<OwnerFacts['expired']>>> {
    const place = 'migration_id = $1 AND owner = w.owner AND created_seq <= $2 AND expires <= $4::bigint';
    const columns = 'locked, amount, rate, round';
    const rows = await ask<CoinSums & { owner: string; locked: number }>(
      `SELECT w.owner, locked, ${UNITS('sum(amount)')} AS amount, ${UNITS('sum(rate)')} AS rate, ${UNITS('sum(rate * round)')} AS "rateRound"
       FROM unnest($3::text[]) AS w(owner) CROSS JOIN LATERAL (
         SELECT ${columns} FROM coin WHERE archived_seq IS NULL AND ${place}
         UNION ALL SELECT ${columns} FROM coin WHERE archived_seq > $2 AND ${place}) k GROUP BY 1, 2`,
      [snapshot.migrationId, snapshot.seq, owners, round],
    );
    const found = new Map(owners.map((owner) => [owner, { unlocked: NO_COINS, locked: NO_COINS }]));
    for (const { owner, locked, ...sums } of rows) found.get(owner)![locked === 1 ? 'locked' : 'unlocked'] = sums;
    return found;
  }

  return async ({ snapshot: choice, round: wanted, owners }: Lookup<'owners'>): Promise<OwnersFacts> => {
    const snapshot = await snapshots.find(choice);
    const round = wanted === 'lowest open' ? await lowestOpenRound() : wanted;
    if (snapshot === null) return { snapshot, round, owners: [] };
    type Row = { party: string; u: string[] | null; l: string[] | null; expires: number | bigint | null };
    const rows = await ask<Row>(
      `SELECT w.party, ${SUMS('u')}, ${SUMS('l')}, t.expires FROM unnest($3::text[]) WITH ORDINALITY AS w(party, n)
       LEFT JOIN LATERAL (SELECT * FROM owner_total o WHERE o.migration_id = $1 AND o.owner = w.party AND o.seq <= $2
         ORDER BY o.seq DESC LIMIT 1) t ON true ORDER BY w.n`,
      [snapshot.migrationId, snapshot.seq, owners],
    );
    const totals = rows.map(({ party, u, l, expires }) => {
      const expiryBound = expires ?? Infinity;
      return { party, unlocked: sumsOf(u, expiryBound), locked: sumsOf(l, expiryBound) };
    });
    const mayHave =
      round === null ? [] : totals.filter((owner) => mayHaveExpired(owner, round)).map(({ party }) => party);
    const expired = mayHave.length === 0 ? null : await expiredOf(snapshot, mayHave, round!);
    const found = totals.map((owner) => ({ ...owner, expired: expired?.get(owner.party) ?? null }));
    return { snapshot, round, owners: found };
  };
}

function sumsOf(row: readonly string[] | null, expiryBound: number | bigint): OwnerSums {
  if (row === null) return { count: 0, ...NO_COINS, expiryBound: Infinity };
  const [count, amount, rate, rateRound] = row.map(BigInt) as [bigint, bigint, bigint, bigint];
  return { count: Number(count), amount, rate, rateRound, expiryBound };
}

/** Characters of the contracts in one page, as of a data directory: usual pages have a tenth of it. */
const PAGE_CHARS_MAX = 16 * 2 ** 20;
const INT64_MAX = 2n ** 63n - 1n;

interface CoinRow
  extends Omit<ContractFacts, keyof CoinContent | 'packageName'>,
    Omit<CoinColumns, 'entity' | 'round'> {
  readonly no: number | bigint;
  readonly locked: number;
  readonly round: number | bigint;
  readonly fits: boolean;
}

const COLUMNS = 'no, contract_id, created_at, owner, locked, amount, rate, round, created_in, node, template_id, extra';

/** Pages of coins by created_at and contract id; the token is the last coin's number. */
export function createContractPages(ask: Ask, snapshots: SnapshotReader, dso: string) {
  return async ({ snapshot: choice, owners, pageSize, after }: Lookup<'page'>): Promise<PageFacts> => {
    const snapshot = await snapshots.find(choice);
    if (snapshot === null) return { found: 'no snapshot' };
    const { migrationId, seq } = snapshot;
    let start = { created_at: -1, contract_id: '' };
    if (after !== null) {
      const [row] =
        after > INT64_MAX || after < 0n
          ? []
          : await ask<typeof start>(
              `SELECT created_at, contract_id FROM coin
         WHERE no = $1::bigint AND migration_id = $2 AND created_seq <= $3 AND (archived_seq IS NULL OR archived_seq > $3)`,
              [after, migrationId, seq],
            );
      if (row === undefined) return { found: 'no such token' };
      start = row;
    }
    const part = (archived: string): string =>
      `(SELECT ${COLUMNS} FROM coin WHERE migration_id = $1 AND owner = w.owner AND ${archived} AND created_seq <= $2
         AND (created_at, contract_id) > ($4::bigint, $5) ORDER BY created_at, contract_id LIMIT $6)`;
    const rows = await ask<CoinRow>(
      `SELECT no, contract_id AS "contractId", created_at AS "createdAt", owner, locked, ${UNITS('amount')} AS amount,
         ${UNITS('rate')} AS rate, round, created_in AS "updateId", node, template_id AS "templateId",
         CASE WHEN fits THEN extra END AS extra, fits FROM (
         SELECT *, place = 1 OR chars <= $7 AS fits FROM (
           SELECT k.*, row_number() OVER by_place AS place, sum(COALESCE(length(extra), 0)) OVER by_place AS chars
           FROM (SELECT DISTINCT unnest($3::text[]) AS owner) w
             CROSS JOIN LATERAL (${part('archived_seq IS NULL')} UNION ALL ${part('archived_seq > $2')}) k
           WINDOW by_place AS (ORDER BY created_at, contract_id) ORDER BY created_at, contract_id LIMIT $6) page) fitting
       ORDER BY created_at, contract_id`,
      [migrationId, seq, owners, start.created_at, start.contract_id, pageSize + 1, PAGE_CHARS_MAX],
    );
    const page = rows.slice(0, pageSize);
    const fitting = page.findIndex(({ fits }) => !fits);
    if (fitting >= 0) return { found: 'too large', fitting };
    const next = rows.length > pageSize ? BigInt(page.at(-1)!.no) : null;
    return { found: 'page', snapshot, contracts: page.map((row) => contractOf(row, dso)), next };
  };
}

function contractOf(row: CoinRow, dso: string): ContractFacts {
  const { contractId, templateId, updateId, node, createdAt } = row;
  const coin = { ...row, entity: coinEntity(row.locked === 1), round: BigInt(row.round) };
  return { ...coinContent(coin, dso), contractId, templateId, packageName: PACKAGE_NAME, updateId, node, createdAt };
}

/** The columns of an owner's `Totals`. */
export const TOTALS = `${UNITS('u_amount')} AS unlocked, ${UNITS('l_amount')} AS locked, u_coins + l_coins AS contracts`;

type Found = { before: Totals; changes: Change[] };

/** Changes of owners from snapshot to snapshot. What came before a migration's first snapshot counts as of that one. */
export function createChangesReader(ask: Ask, periodUs: number) {
  /** Of each owner; read in one statement. */
  async function changesOf({ migrationId, owners, from, to }: OwnersChangesLookup): Promise<Found[]> {
    const rows = await ask<Totals & { place: number; seq: number }>(
      `SELECT w.place, GREATEST(seq, first_seq) AS seq, ${TOTALS} FROM sealed
       CROSS JOIN unnest($2::text[]) WITH ORDINALITY AS w(owner, place)
       CROSS JOIN LATERAL (SELECT * FROM owner_total o WHERE o.migration_id = $1 AND o.owner = w.owner AND seq <= LEAST(last_seq, $4)
         AND seq >= COALESCE((SELECT max(seq) FROM owner_total b WHERE b.migration_id = $1 AND b.owner = w.owner AND b.seq < $3), 0)) t
       WHERE sealed.migration_id = $1 ORDER BY w.place, t.seq`,
      [migrationId, owners, from / periodUs, to / periodUs],
    );
    const byPlace = Map.groupBy(rows, ({ place }) => place);
    return owners.map((_, i) => changesIn(byPlace.get(i + 1) ?? [], from));
  }

  function changesIn(rows: readonly (Totals & { seq: number })[], from: number): Found {
    let [before, held] = [NO_COIN, NO_COIN];
    const changes = new Map<number, Change>();
    for (const { seq, unlocked, locked, contracts } of rows) {
      const recordTime = seq * periodUs;
      const after = { unlocked, locked, contracts };
      if (recordTime < from) before = after;
      else changes.set(recordTime, { recordTime, before: changes.get(recordTime)?.before ?? held, after });
      held = after;
    }
    return { before, changes: [...changes.values()].filter((change) => !sameTotals(change.before, change.after)) };
  }

  return {
    async changes({ order, rows, party, ...lookup }: ChangesLookup): Promise<ChangesFacts> {
      const [found] = await changesOf({ ...lookup, owners: [party] });
      const { before, changes } = found!;
      const ordered = order === 'asc' ? changes : changes.reverse();
      return { before, changes: ordered.slice(0, rows) };
    },
    async ofOwners({ migrationId, owners, ...times }: OwnersChangesLookup): Promise<readonly (readonly Change[])[]> {
      const { from, to } = multiplesWithin(times, periodUs);
      if (from > to) return owners.map(() => []);
      return (await changesOf({ migrationId, owners, from, to })).map(({ changes }) => changes);
    },
  };
}
