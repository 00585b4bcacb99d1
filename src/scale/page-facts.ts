import type { ContractFacts, Lookup, PageFacts } from '../holdings/facts.ts';
import { type CoinColumns, type CoinContent, coinContent } from '../ledger/coin.ts';
import { coinEntity, PACKAGE_NAME } from '../ledger/templates.ts';
import type { SnapshotReader } from './snapshot-facts.ts';
import type { Ask } from './statement-pool.ts';

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
export function createPageReader(
  ask: Ask,
  { snapshots, dso }: { snapshots: SnapshotReader; dso: string },
): (lookup: Lookup<'page'>) => Promise<PageFacts> {
  return async ({ snapshot: choice, owners, pageSize, after }) => {
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
      `SELECT no, contract_id AS "contractId", created_at AS "createdAt", owner, locked, trunc(amount * 10000000000) AS amount,
         trunc(rate * 10000000000) AS rate, round, created_in AS "updateId", node, template_id AS "templateId",
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
