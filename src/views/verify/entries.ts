import { idText, type StoredId, storedIdHash } from '../../ledger/contract-id.ts';
import { coinEntity } from '../../ledger/templates.ts';
import { LEDGER_TIME_MAX } from '../../ledger/time.ts';
import { NUMBER_MAX } from '../store/hash-index.ts';
import { type CoinTerms, HOLDING_COLUMNS, isArguments, isStoredId, type StoredHolding, termsOf } from './contract.ts';
import type { HeldIds } from './held-ids.ts';
import type { ItemsFound } from './items-found.ts';
import type { NumbersSeen } from './numbers.ts';
import { readTemplateEntities } from './templates.ts';
import type { VerifyContext } from './types.ts';
import type { OwnerFold } from './versions.ts';

/** The tables of an owner's contracts, present and past. */
export const ENTRY_TABLES = ['held', 'spent'] as const;
type EntryTable = (typeof ENTRY_TABLES)[number];

/** One row of `held` or `spent`, with the columns of its holding. */
interface Entry extends Omit<StoredHolding, 'no'> {
  readonly entryNo: bigint;
  readonly entryCreatedAt: bigint;
  readonly entryCreatedSeq: bigint | null;
  readonly entryExpiry: bigint | null;
  readonly archivedSeq: bigint | null;
  readonly idHash: bigint | null;
  /** Null where there is no such holding. */
  readonly no: bigint | null;
}

export interface VerifiedOwner {
  readonly id: bigint;
  readonly party: string;
  readonly migrationId: number;
  readonly openSeq: bigint;
}

export interface EntryVerifier {
  /** Called at the start of each read transaction. */
  begin(): void;
  /** Verifies every row of one owner, adds up its contracts, and returns the number of rows. */
  verify(owner: VerifiedOwner, fold: OwnerFold): number;
}

/** What was met among the rows of `held` and `spent` so far. */
export interface Met {
  readonly numbers: NumbersSeen;
  readonly heldIds: HeldIds;
  readonly items: ItemsFound;
}

export function createEntryVerifier({ db, report }: VerifyContext, { numbers, heldIds, items }: Met): EntryVerifier {
  const prepare = (table: EntryTable) =>
    db.prepare<[bigint], Entry>(
      `SELECT e.no AS entryNo, e.created_at AS entryCreatedAt, e.created_seq AS entryCreatedSeq, e.expiry AS entryExpiry,
         ${table === 'spent' ? 'e.archived_seq' : 'NULL'} AS archivedSeq, ${table === 'held' ? 'e.id_hash' : 'NULL'} AS idHash, ${HOLDING_COLUMNS}
       FROM ${table} e LEFT JOIN holding c ON c.no = e.no WHERE e.owner = ?`,
    );
  const statements = { held: prepare('held'), spent: prepare('spent') };
  const dsoNow = db.prepare<[], string | null>('SELECT dso FROM setting').pluck();
  let entities: ReadonlyMap<bigint, string> = new Map();
  let dso = '';

  function verifyEntry(table: EntryTable, entry: Entry, owner: VerifiedOwner, fold: OwnerFold): void {
    const { entryNo: no, archivedSeq } = entry;
    const differs = (where: string, expected: string, found: unknown): void =>
      report({
        table: where,
        owner: owner.party,
        snapshot: null,
        expected: `contract ${no}: ${expected}`,
        found: shown(found),
      });

    if (numbers.covers(no)) {
      if (numbers.has(no)) differs(table, 'one row in held and spent together', 'another one');
      numbers.add(no);
    }
    if (no > NUMBER_MAX) differs(table, `a number up to ${NUMBER_MAX}`, no);
    if (!isHolding(entry)) return differs('holding', `a row, which ${table} names`, 'none');
    if (entry.owner !== owner.id) differs(table, `owner ${entry.owner} as in holding`, `owner ${owner.id}`);
    if (entry.createdAt !== entry.entryCreatedAt)
      differs(table, `created_at ${entry.createdAt} as in holding`, entry.entryCreatedAt);
    if (entry.createdSeq !== entry.entryCreatedSeq)
      differs(table, `created_seq ${entry.createdSeq} as in holding`, entry.entryCreatedSeq);
    verifyIntervals(table, entry, owner.openSeq, differs);
    verifyFacts(entry, differs);
    if (table === 'held' && isStoredId(entry.contractId)) verifyActiveId(entry, entry.contractId, owner, differs);
    const terms = termsOf(entry);
    if (terms === null)
      return differs('holding', 'an amount > 0, a rate and a round >= 0', [entry.amount, entry.rate, entry.round]);
    if (entry.entryExpiry !== terms.expiryRound)
      differs(table, `expiry ${terms.expiryRound} by its amount and rate in holding`, entry.entryExpiry);
    verifyArguments(entry, owner, terms, differs);
    addTo(fold, entry, archivedSeq, terms);
    addItems(entry, owner, terms);
  }

  function verifyActiveId({ entryNo: no, idHash }: Entry, id: StoredId, owner: VerifiedOwner, differs: Differs): void {
    const hash = BigInt.asIntN(32, BigInt(storedIdHash(id, owner.migrationId)));
    if (idHash !== hash) differs('held', `id_hash ${hash} by its id in holding`, idHash);
    const twin = heldIds.find(id, owner.migrationId);
    if (twin !== null) differs('held', `to be the only one with the id ${idText(id)}`, `contract ${twin} too`);
    else if (numbers.covers(no) && no <= NUMBER_MAX) heldIds.add(id, owner.migrationId, no);
  }

  function addItems(entry: Omit<StoredHolding, 'no'> & Entry, owner: VerifiedOwner, terms: CoinTerms): void {
    const { locked, round, createdAt, contractId, createdSeq, archivedSeq } = entry;
    if (createdSeq === null || !isStoredId(contractId)) return;
    const { party, migrationId } = owner;
    const { amount, rate } = terms;
    const facts = { amount, rate, round: round ?? 0n, createdAt: Number(createdAt) };
    const coin = { entity: coinEntity(locked === 1n), owner: party, ...facts };
    items.add({ migrationId, createdSeq, archivedSeq }, coin, idText(contractId));
  }

  function verifyArguments(
    { locked, round, args }: Omit<StoredHolding, 'no'>,
    { party }: VerifiedOwner,
    { amount, rate }: CoinTerms,
    differs: Differs,
  ): void {
    const entity = coinEntity(locked === 1n);
    if (isArguments(args, { entity, owner: party, amount, rate, round: round ?? 0n }, dso)) return;
    differs('holding', `args of such an ${entity}, with its owner, amount, rate and round`, args);
  }

  function verifyFacts(entry: Omit<StoredHolding, 'no'>, differs: Differs): void {
    const { locked, template, createdSeq, createdAt, node, contractId, updateId } = entry;
    if (locked !== 0n && locked !== 1n) differs('holding', 'locked 0 or 1', locked);
    const entity = template === null ? undefined : entities.get(template);
    const expected = coinEntity(locked === 1n);
    if (entity === undefined) differs('template', `a row ${template}, which holding names`, 'none');
    else if (entity !== expected) differs('holding', `a template of ${expected}, as locked says`, entity);
    if (createdAt === null || createdAt < 0n || createdAt >= BigInt(LEDGER_TIME_MAX))
      differs('holding', 'created_at in 1970-2200', createdAt);
    if (node === null || node < 0n) differs('holding', 'node >= 0', node);
    if (!isStoredId(contractId)) differs('holding', 'contract_id in the form it is stored in', contractId);
    if (updateId !== null && !isStoredId(updateId, Number.MAX_SAFE_INTEGER))
      differs('holding', 'update_id in the form it is stored in', updateId);
    if (updateId === null && createdSeq !== 1n)
      differs(
        'holding',
        'an update_id: only an import has none, and belongs to interval 1',
        `none, of interval ${createdSeq}`,
      );
  }

  return {
    begin() {
      entities = readTemplateEntities(db);
      dso = dsoNow.get() ?? '';
    },
    verify(owner, fold) {
      let rows = 0;
      for (const table of ENTRY_TABLES) {
        for (const entry of statements[table].iterate(owner.id)) {
          verifyEntry(table, entry, owner, fold);
          rows++;
        }
      }
      return rows;
    },
  };
}

type Differs = (table: string, expected: string, found: unknown) => void;

function isHolding(entry: Entry): entry is Entry & { readonly no: bigint } {
  return entry.no !== null;
}

function verifyIntervals(table: EntryTable, entry: Entry, openSeq: bigint, differs: Differs): void {
  const { createdSeq, archivedSeq } = entry;
  if (createdSeq === null || createdSeq < 1n || createdSeq > openSeq)
    differs('holding', `created_seq from 1 to the open interval, ${openSeq}`, createdSeq);
  if (table === 'held') return;
  if (archivedSeq === null || archivedSeq <= (createdSeq ?? 0n) || archivedSeq > openSeq)
    differs('spent', `archived_seq after created_seq ${createdSeq}, up to the open interval, ${openSeq}`, archivedSeq);
}

function addTo(fold: OwnerFold, entry: Entry, archivedSeq: bigint | null, terms: CoinTerms): void {
  const locked = entry.locked === 1n;
  if (entry.createdSeq !== null) fold.created(entry.createdSeq, locked, terms);
  if (archivedSeq !== null) fold.archived(archivedSeq, locked, terms);
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).join(', ');
  return Buffer.isBuffer(value) ? `x'${value.toString('hex')}'` : String(value);
}
