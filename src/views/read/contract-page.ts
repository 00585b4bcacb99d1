import type { Database } from 'better-sqlite3';
import type { ContractFacts, Lookup, PageFacts } from '../../holdings/facts.ts';
import { coinContent } from '../../ledger/coin.ts';
import { idText, type StoredId } from '../../ledger/ledger-ids.ts';
import { type CoinRow, coinTerms } from '../store/stored-rows.ts';
import type { StoredSnapshot } from './stored-snapshots.ts';

/**
 * Bytes of the contracts in one page: usual pages have a tenth of this, but a lock has a text of any length, and a thousand of
 * those for each of many clients would fill the memory.
 */
const PAGE_CHARS_MAX = 16 * 2 ** 20;

/** A contract active at the snapshot, before its row of `holding` is read. */
interface Entry {
  readonly createdAt: number;
  readonly no: number;
}

interface ContractRow extends CoinRow {
  readonly createdAt: bigint;
  readonly node: bigint;
  readonly contractId: StoredId;
  readonly updateId: StoredId | null;
  readonly templateId: string;
  readonly packageName: string;
}

/** Where a page begins: after that contract. */
type Start = { readonly createdAt: number; readonly id: string };
const BEGINNING: Start = { createdAt: -1, id: '' };

/** A row's contract id as text, which SQLite orders by its UTF-8 bytes; where it is stored as bytes, they are lower-case hex. */
const ID = "CASE typeof(contract_id) WHEN 'blob' THEN lower(hex(contract_id)) ELSE contract_id END";

/**
 * Reads pages. Contracts are ordered by created_at, then contract id; all coins of an update have one created_at, so whole
 * groups of equal times are read, and then sorted by id.
 */
export function createPageReader(db: Database) {
  const ownerNo = db
    .prepare<[number, string], number>('SELECT id FROM owner WHERE migration_id = ? AND party = ?')
    .pluck();
  const held = db.prepare<[number, number, number], Entry>(
    `SELECT created_at AS createdAt, no FROM held
     WHERE owner = ? + 0 AND created_at >= ? AND created_seq <= ? ORDER BY created_at, no`,
  );
  const spent = db.prepare<[number, number, number, number], Entry>(
    `SELECT created_at AS createdAt, no FROM spent
     WHERE owner = ? AND archived_seq > ? AND created_seq <= ? AND created_at >= ?`,
  );
  const inOrder = db
    .prepare<[Start & { readonly nos: string; readonly rows: number }], number>(
      // A row that is missing comes first, so that it is noticed.
      `SELECT value FROM json_each(@nos) LEFT JOIN holding ON no = value
       WHERE no IS NULL OR (created_at, ${ID}) > (@createdAt, @id) ORDER BY created_at, ${ID} LIMIT @rows`,
    )
    .pluck();
  const tokenRow = db.prepare<{ no: bigint; seq: number; migrationId: number }, Start>(
    `SELECT h.created_at AS createdAt, ${ID} AS id FROM holding h JOIN owner o ON o.id = h.owner
     WHERE h.no = @no AND o.migration_id = @migrationId AND h.created_seq <= @seq
       AND (EXISTS (SELECT 1 FROM held WHERE owner = h.owner AND created_at = h.created_at AND no = h.no)
         OR EXISTS (SELECT 1 FROM spent WHERE owner = h.owner AND archived_seq > @seq AND created_at = h.created_at AND no = h.no))`,
  );
  const contract = db
    .prepare<[number], ContractRow>(
      `SELECT party AS owner, locked, amount, rate, round, created_at AS createdAt, node, contract_id AS contractId,
         update_id AS updateId, args AS extra, template_id AS templateId, package_name AS packageName
       FROM holding JOIN owner ON owner.id = holding.owner JOIN template ON template.id = holding.template WHERE no = ?`,
    )
    .safeIntegers();
  const dsoOf = db.prepare<[], string | null>('SELECT dso FROM setting').pluck();

  /** The entries among which are the first `rows` after a time, and all of that time itself: whole groups of equal times. */
  function firstEntries(
    owners: readonly number[],
    { seq, from, rows }: { seq: number; from: number; rows: number },
  ): readonly Entry[] {
    let entries: Entry[] = [];
    let until = Infinity;
    /** How many are collected before unneeded ones are dropped. */
    let most = rows * 2 + 64;
    const drop = (): void => {
      const later = entries.filter(({ createdAt }) => createdAt > from).sort((a, b) => a.createdAt - b.createdAt);
      until = later[rows - 1]?.createdAt ?? until;
      entries = entries.filter(({ createdAt }) => createdAt <= until);
      // A group is kept however large; checking it at each entry would take time with the square of its size.
      most = Math.max(most, entries.length * 2);
    };
    const add = (entry: Entry): void => {
      if (entries.push(entry) >= most) drop();
    };
    for (const owner of owners) {
      for (const entry of held.iterate(owner, from, seq)) {
        if (entry.createdAt > until) break;
        add(entry);
      }
      for (const entry of spent.all(owner, seq, seq, from)) if (entry.createdAt <= until) add(entry);
    }
    drop();
    return entries;
  }

  /** The contracts of a page; or, where they are too large, how many fit. One always does. */
  function contractsOf(nos: readonly number[]): ContractFacts[] | { readonly fitting: number } {
    const dso = dsoOf.get() ?? '';
    const contracts: ContractFacts[] = [];
    let chars = 0;
    for (const no of nos) {
      const row = contract.get(no);
      if (row === undefined) throw new Error(`holding ${no} is not in views.db`);
      chars += row.extra?.length ?? 0;
      if (chars > PAGE_CHARS_MAX && contracts.length > 0) return { fitting: contracts.length };
      contracts.push({
        ...coinContent(coinTerms(row), dso),
        contractId: idText(row.contractId),
        templateId: row.templateId,
        packageName: row.packageName,
        updateId: row.updateId === null ? null : idText(row.updateId),
        node: Number(row.node),
        createdAt: Number(row.createdAt),
      });
    }
    return contracts;
  }

  return (
    snapshot: StoredSnapshot,
    { owners, after, pageSize }: Pick<Lookup<'page'>, 'owners' | 'after' | 'pageSize'>,
  ): PageFacts => {
    const { migrationId, seq } = snapshot;
    const start = after === null ? BEGINNING : tokenRow.get({ no: after, seq, migrationId });
    if (start === undefined) return { found: 'no such token' };
    const rows = pageSize + 1;
    const known = [...new Set(owners)].flatMap((party) => ownerNo.get(migrationId, party) ?? []);
    const nos = firstEntries(known, { seq, from: start.createdAt, rows }).map(({ no }) => no);
    const ordered = inOrder.all({ ...start, nos: JSON.stringify(nos), rows });
    const page = ordered.slice(0, pageSize);
    const contracts = contractsOf(page);
    if ('fitting' in contracts) return { found: 'too large', ...contracts };
    return { found: 'page', snapshot, contracts, next: ordered.length > pageSize ? BigInt(page.at(-1)!) : null };
  };
}
