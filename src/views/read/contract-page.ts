import type { Database } from 'better-sqlite3';
import type { ContractFacts, Lookup, PageFacts } from '../../holdings/facts.ts';
import { coinContent } from '../../ledger/coin.ts';
import { idText, type StoredId } from '../../ledger/ledger-ids.ts';
import { epochsUp } from '../store/account-epochs.ts';
import { type CoinRow, coinTerms } from '../store/stored-rows.ts';
import type { Account, AccountReader } from './owner-versions.ts';
import { ID_TEXT, type StoredSnapshot } from './stored-snapshots.ts';

/** Bytes of the contracts in one page: usual ones have a tenth, but the text of a lock has any length, and clients are many. */
const PAGE_CHARS_MAX = 16 * 2 ** 20;

type Entry = { readonly createdAt: number; readonly no: number };

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
const FIRST: Start = { createdAt: -1, id: '' };

/** Reads pages by created_at, then contract id. All coins of an update have one created_at, so whole groups of it are read, and sorted. */
export function createPageReader(db: Database, accounts: AccountReader) {
  const readEpochs = createEpochReader(db);
  const held = db.prepare<[number, number, number, number], Entry>(
    `SELECT created_at AS createdAt, no FROM held h
     WHERE epoch = ? + 0 AND account = ? + 0 AND created_at >= ? + 0 AND created_seq <= ?
       AND NOT EXISTS (SELECT 1 FROM gone WHERE gone.no = h.no) ORDER BY created_at, no`,
  );
  const spent = db.prepare<[number, number, number, number, number], Entry>(
    `SELECT created_at AS createdAt, no FROM spent
     WHERE epoch = ? AND account = ? AND archived_seq > ? AND created_seq <= ? AND created_at >= ?`,
  );
  const inOrder = db
    .prepare<[Start & { readonly nos: string; readonly rows: number }], number>(
      // A row that is missing comes first, so that it is noticed.
      `SELECT value FROM json_each(@nos) LEFT JOIN holding ON no = value
       WHERE no IS NULL OR (created_at, ${ID_TEXT}) > (@createdAt, @id) ORDER BY created_at, ${ID_TEXT} LIMIT @rows`,
    )
    .pluck();
  const tokenRow = db.prepare<{ no: bigint; seq: number; migrationId: number; last: number }, Start>(
    `SELECT h.created_at AS createdAt, ${ID_TEXT} AS id FROM holding h JOIN account a ON a.id = h.account
     WHERE h.no = @no AND a.instrument = (SELECT coin FROM migration WHERE migration_id = @migrationId) AND h.created_seq <= @seq
       AND (EXISTS (
         SELECT 1 FROM held WHERE epoch = (SELECT max(no) FROM epoch WHERE first_no <= @no)
           AND account = h.account AND created_at = h.created_at AND no = h.no)
         AND NOT EXISTS (SELECT 1 FROM gone WHERE gone.no = h.no)
       OR EXISTS (
         SELECT 1 FROM epoch e CROSS JOIN spent s ON s.epoch = e.no AND s.account = h.account AND s.archived_seq > @seq
           AND s.created_at = h.created_at AND s.no = h.no WHERE e.no >= @last))`,
  );
  const contract = db
    .prepare<[number], ContractRow>(
      `SELECT owner, locked, amount, rate, round, created_at AS createdAt, node, contract_id AS contractId,
         coalesce(u.update_id, h.update_id) AS updateId, args AS extra, template_id AS templateId, package_name AS packageName
       FROM holding h JOIN account ON account.id = account JOIN template ON template.id = h.template
       LEFT JOIN ledger_update u ON typeof(h.update_id) = 'integer' AND u.no = h.update_id WHERE h.no = ? + 0`,
    )
    .safeIntegers();
  const dsoOf = db.prepare<[], string | null>('SELECT dso FROM setting').pluck();

  /** The entries among which are the first `rows` after a time, and all of that time itself: whole groups of equal times. */
  function firstEntries(
    found: readonly Account[],
    { snapshot, from, rows }: { snapshot: StoredSnapshot; from: number; rows: number },
  ): readonly Entry[] {
    const { seq, epoch: last } = snapshot;
    const bounds = readEpochs();
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
    for (const { no, epochs } of found) {
      for (const epoch of epochsUp(epochs, last))
        for (const entry of spent.all(epoch, no, seq, seq, from)) if (entry.createdAt <= until) add(entry);
      for (const epoch of epochsUp(epochs, 0, last)) {
        // Coins are mostly created in the order of the epochs: most of them need not be read.
        const bound = bounds.get(epoch);
        if (bound === undefined || bound.minCreated > until || bound.maxCreated < from) continue;
        for (const entry of held.iterate(epoch, no, from, seq)) {
          if (entry.createdAt > until) break;
          add(entry);
        }
        if (entries.length >= rows) drop();
      }
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
    const { migrationId, seq, epoch: last } = snapshot;
    const start = after === null ? FIRST : tokenRow.get({ no: after, seq, migrationId, last });
    if (start === undefined) return { found: 'no such token' };
    const rows = pageSize + 1;
    const found = [...new Set(owners)].flatMap((party) => accounts.ofParty({ migrationId }, party));
    const nos = firstEntries(found, { snapshot, from: start.createdAt, rows }).map(({ no }) => no);
    const ordered = inOrder.all({ ...start, nos: JSON.stringify(nos), rows });
    const page = ordered.slice(0, pageSize);
    const contracts = contractsOf(page);
    if ('fitting' in contracts) return { found: 'too large', ...contracts };
    return { found: 'page', snapshot, contracts, next: ordered.length > pageSize ? BigInt(page.at(-1)!) : null };
  };
}

type CreatedBounds = Readonly<Record<'no' | 'minCreated' | 'maxCreated', number>>;

/** Returns the function that reads the bounds of created_at of all epochs with coins: again only after another connection has written. */
function createEpochReader(db: Database): () => ReadonlyMap<number, CreatedBounds> {
  const rows = db.prepare<[], CreatedBounds>(
    'SELECT no, min_created AS minCreated, max_created AS maxCreated FROM epoch WHERE min_created IS NOT NULL',
  );
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  let [readAt, bounds] = [-1, new Map<number, CreatedBounds>()];
  return () => {
    const version = dataVersion.get()!;
    if (version !== readAt) bounds = new Map(rows.all().map((each) => [each.no, each]));
    readAt = version;
    return bounds;
  };
}
