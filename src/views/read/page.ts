import type { Database } from 'better-sqlite3';
import type { ContractFacts, Lookup, PageFacts } from '../../holdings/facts.ts';
import { coinContent } from '../../ledger/coin.ts';
import { idText, type StoredId } from '../../ledger/contract-id.ts';
import { coinEntity } from '../../ledger/templates.ts';
import { unitsOf } from '../store/columns.ts';
import type { StoredSnapshot } from './snapshots.ts';

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

interface ContractRow {
  readonly no: bigint;
  readonly party: string;
  readonly locked: bigint;
  readonly amount: bigint | Buffer;
  readonly rate: bigint | Buffer;
  readonly round: bigint;
  readonly createdAt: bigint;
  readonly node: bigint;
  readonly contractId: StoredId;
  readonly updateId: StoredId | null;
  readonly extra: string | null;
  readonly templateId: string;
  readonly packageName: string;
}

/** Where a page begins: after the contract of that number. */
interface Start {
  readonly createdAt: number;
  readonly contractId: string;
}

export type ReadPage = (snapshot: StoredSnapshot, lookup: Omit<Lookup<'page'>, 'kind' | 'snapshot'>) => PageFacts;

/**
 * Reads pages. Contracts are ordered by created_at, then contract id; all coins of an update have one created_at, so whole
 * groups of equal times are read and sorted by id.
 */
export function createPageReader(db: Database): ReadPage {
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
  const idOf = db.prepare<[number], StoredId>('SELECT contract_id FROM holding WHERE no = ?').pluck();
  const tokenRow = db.prepare<
    { no: bigint; seq: number; migrationId: number },
    { createdAt: number; contractId: StoredId }
  >(
    `SELECT h.created_at AS createdAt, h.contract_id AS contractId FROM holding h JOIN owner o ON o.id = h.owner
     WHERE h.no = @no AND o.migration_id = @migrationId AND h.created_seq <= @seq
       AND (EXISTS (SELECT 1 FROM held WHERE owner = h.owner AND created_at = h.created_at AND no = h.no)
         OR EXISTS (SELECT 1 FROM spent WHERE owner = h.owner AND archived_seq > @seq AND created_at = h.created_at AND no = h.no))`,
  );
  const contract = db
    .prepare<[number], ContractRow>(
      `SELECT no, party, locked, amount, rate, round, created_at AS createdAt, node, contract_id AS contractId,
         update_id AS updateId, args AS extra, template_id AS templateId, package_name AS packageName
       FROM holding JOIN owner ON owner.id = holding.owner JOIN template ON template.id = holding.template WHERE no = ?`,
    )
    .safeIntegers();
  const dsoOf = db.prepare<[], string | null>('SELECT dso FROM setting').pluck();

  /** An owner's entries from `from` on, in whole groups: at least `enough` after it, if there are as many. */
  function* ownerEntries(owner: number, seq: number, from: number, enough: () => number): Generator<Entry> {
    for (const entry of held.iterate(owner, from, seq)) {
      if (entry.createdAt > enough()) break;
      yield entry;
    }
    for (const entry of spent.all(owner, seq, seq, from)) if (entry.createdAt <= enough()) yield entry;
  }

  /** The contracts of a page; or, where they are too large, how many fit. One always does. */
  function contractsOf(page: readonly Entry[]): ContractFacts[] | { readonly fitting: number } {
    const dso = dsoOf.get() ?? '';
    const contracts: ContractFacts[] = [];
    let chars = 0;
    for (const { no } of page) {
      const row = contract.get(no);
      if (row === undefined) throw new Error(`holding ${no} is not in views.db`);
      chars += row.extra?.length ?? 0;
      if (chars > PAGE_CHARS_MAX && contracts.length > 0) return { fitting: contracts.length };
      contracts.push(contractOf(row, dso));
    }
    return contracts;
  }

  function contractOf(row: ContractRow, dso: string): ContractFacts {
    const terms = {
      entity: coinEntity(row.locked === 1n),
      owner: row.party,
      amount: unitsOf(row.amount),
      rate: unitsOf(row.rate),
      round: row.round,
      extra: row.extra,
    } as const;
    return {
      ...coinContent(terms, dso),
      contractId: idText(row.contractId),
      templateId: row.templateId,
      packageName: row.packageName,
      updateId: row.updateId === null ? null : idText(row.updateId),
      node: Number(row.node),
      createdAt: Number(row.createdAt),
    };
  }

  function startOf(after: bigint | null, seq: number, migrationId: number): Start | null | 'unknown' {
    if (after === null) return null;
    const row = tokenRow.get({ no: after, seq, migrationId });
    return row === undefined ? 'unknown' : { createdAt: row.createdAt, contractId: idText(row.contractId) };
  }

  return (snapshot, { owners, after, pageSize }) => {
    const start = startOf(after, snapshot.seq, snapshot.migrationId);
    if (start === 'unknown') return { found: 'no such token' };
    const wanted = new FirstEntries(pageSize + 1, start);
    for (const party of new Set(owners)) {
      const owner = ownerNo.get(snapshot.migrationId, party);
      if (owner === undefined) continue;
      const from = start?.createdAt ?? 0;
      for (const entry of ownerEntries(owner, snapshot.seq, from, () => wanted.cutoff)) wanted.add(entry);
    }
    const ordered = firstInOrder(pageSize + 1, wanted.entries(), { idOf: (no) => idText(idOf.get(no)!), start });
    const page = ordered.slice(0, pageSize);
    const contracts = contractsOf(page);
    if ('fitting' in contracts) return { found: 'too large', ...contracts };
    return { found: 'page', snapshot, contracts, next: ordered.length > pageSize ? BigInt(page.at(-1)!.no) : null };
  };
}

/** Collects entries and drops those that cannot be among the first `wanted` after the start, in whole groups. */
class FirstEntries {
  readonly #wanted: number;
  readonly #start: Start | null;
  #entries: Entry[] = [];
  /** How many are collected before unneeded ones are dropped. */
  #entriesMax: number;
  /** No entry with a later created_at is needed. */
  cutoff = Infinity;

  constructor(wanted: number, start: Start | null) {
    this.#wanted = wanted;
    this.#start = start;
    this.#entriesMax = wanted * 2 + 64;
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    if (this.#entries.length < this.#entriesMax) return;
    this.#shrink();
    // A group of equal times is kept whole, however large; checking it at each entry would take time with the square of its size.
    this.#entriesMax = Math.max(this.#entriesMax, this.#entries.length * 2);
  }

  entries(): readonly Entry[] {
    this.#shrink();
    return this.#entries;
  }

  #shrink(): void {
    this.#entries.sort((a, b) => a.createdAt - b.createdAt);
    // Entries with the start's own time may be before it, so only later ones are counted.
    const first =
      this.#start === null ? 0 : this.#entries.findIndex(({ createdAt }) => createdAt > this.#start!.createdAt);
    const last = first < 0 ? undefined : this.#entries[first + this.#wanted - 1];
    if (last === undefined) return;
    this.cutoff = last.createdAt;
    this.#entries = this.#entries.filter(({ createdAt }) => createdAt <= last.createdAt);
  }
}

interface Ordered extends Entry {
  /** The contract id as a string whose order is that of its UTF-8 bytes. */
  readonly bytes: string;
}

/** The first by created_at, then contract id as UTF-8 bytes; only those after the start. Of a large group few are kept. */
function firstInOrder(
  count: number,
  entries: readonly Entry[],
  { idOf, start }: { idOf: (no: number) => string; start: Start | null },
): Ordered[] {
  const startAt = start === null ? null : { createdAt: start.createdAt, bytes: byteText(start.contractId) };
  let kept: Ordered[] = [];
  let last: Ordered | undefined;
  const keepFirst = (): void => {
    kept = kept.sort(byTimeAndId).slice(0, count);
    if (kept.length === count) last = kept.at(-1);
  };
  for (const { createdAt, no } of entries) {
    if (last !== undefined && createdAt > last.createdAt) continue;
    const entry = { createdAt, no, bytes: byteText(idOf(no)) };
    if (startAt !== null && byTimeAndId(entry, startAt) <= 0) continue;
    if (last !== undefined && byTimeAndId(entry, last) > 0) continue;
    if (kept.push(entry) >= 2 * count) keepFirst();
  }
  keepFirst();
  return kept;
}

function byTimeAndId(a: Omit<Ordered, 'no'>, b: Omit<Ordered, 'no'>): number {
  return a.createdAt - b.createdAt || (a.bytes < b.bytes ? -1 : a.bytes > b.bytes ? 1 : 0);
}

const ASCII = /^[\0-\x7f]*$/;

function byteText(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text).toString('latin1');
}
