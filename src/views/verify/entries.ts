import { idText, type StoredId, storedIdHash } from '../../ledger/contract-id.ts';
import { coinEntity } from '../../ledger/templates.ts';
import { expiryColumn } from '../store/columns.ts';
import { NUMBER_MAX } from '../store/hash-index.ts';
import { coinEntityOf, HOLDING_COLUMNS, isArguments, isStoredId, type StoredHolding, termsOf } from './contract.ts';
import type { ContractsSeen } from './contracts-seen.ts';
import { isLedgerTime, type VerifyContext } from './types.ts';
import type { OwnerFold } from './versions.ts';

/** The tables of an owner's contracts, present and past. */
export const ENTRY_TABLES = ['held', 'spent'] as const;
type EntryTable = (typeof ENTRY_TABLES)[number];

/** One row of `held` or `spent`, with the columns of its holding. */
interface Entry extends StoredHolding {
  readonly entryNo: bigint;
  readonly entryCreatedAt: bigint;
  readonly entryCreatedSeq: bigint | null;
  readonly entryExpiry: bigint | null;
  readonly archivedSeq: bigint | null;
  readonly idHash: bigint | null;
  /** Null where there is no such row in `template`. */
  readonly templateId: string | null;
}

export interface VerifiedOwner {
  readonly id: bigint;
  readonly party: string;
  readonly migrationId: number;
  readonly openSeq: bigint;
}

interface Verified {
  readonly owner: VerifiedOwner;
  readonly dso: string;
  readonly fold: OwnerFold;
}

/** Verifies every row of one owner, adds up its contracts, and returns the number of rows. */
export type VerifyEntries = (owner: VerifiedOwner, fold: OwnerFold) => number;

export function createEntryVerifier(
  { db, report }: VerifyContext,
  { numbers, heldIds, items }: ContractsSeen,
): VerifyEntries {
  const prepare = (table: EntryTable) =>
    db.prepare<[bigint], Entry>(
      `SELECT e.no AS entryNo, e.created_at AS entryCreatedAt, e.created_seq AS entryCreatedSeq, e.expiry AS entryExpiry,
         ${table === 'spent' ? 'e.archived_seq' : 'NULL'} AS archivedSeq, ${table === 'held' ? 'e.id_hash' : 'NULL'} AS idHash,
         t.template_id AS templateId, ${HOLDING_COLUMNS}
       FROM ${table} e LEFT JOIN holding c ON c.no = e.no LEFT JOIN template t ON t.id = c.template WHERE e.owner = ?`,
    );
  const statements = { held: prepare('held'), spent: prepare('spent') };
  const dsoNow = db.prepare<[], string | null>('SELECT dso FROM setting').pluck();

  function verifyEntry(table: EntryTable, entry: Entry, { owner, dso, fold }: Verified): void {
    const { entryNo: no, createdSeq, archivedSeq, contractId } = entry;
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
    if (entry.no === null) return differs('holding', `a row, which ${table} names`, 'none');
    if (entry.owner !== owner.id) differs(table, `owner ${entry.owner} as in holding`, `owner ${owner.id}`);
    if (entry.createdAt !== entry.entryCreatedAt)
      differs(table, `created_at ${entry.createdAt} as in holding`, entry.entryCreatedAt);
    if (entry.createdSeq !== entry.entryCreatedSeq)
      differs(table, `created_seq ${entry.createdSeq} as in holding`, entry.entryCreatedSeq);
    verifyIntervals(table, entry, owner.openSeq, differs);
    verifyFacts(entry, differs);
    if (table === 'held' && isStoredId(contractId)) verifyActiveId(entry, contractId, owner, differs);
    const terms = termsOf(entry);
    if (terms === null)
      return differs('holding', 'an amount > 0, a rate and a round >= 0', [entry.amount, entry.rate, entry.round]);
    const expiry = expiryColumn(terms.expiry);
    if (entry.entryExpiry !== expiry)
      differs(table, `expiry ${expiry} by its amount and rate in holding`, entry.entryExpiry);
    const isLocked = entry.locked === 1n;
    const coin = { ...terms, entity: coinEntity(isLocked), owner: owner.party, createdAt: Number(entry.createdAt) };
    if (!isArguments(entry.args, coin, dso))
      differs('holding', `args of such an ${coin.entity}, with its owner, amount, rate and round`, entry.args);
    if (createdSeq !== null) fold.created(createdSeq, isLocked, terms);
    if (archivedSeq !== null) fold.archived(archivedSeq, isLocked, terms);
    if (createdSeq !== null && isStoredId(contractId))
      items.add({ migrationId: owner.migrationId, createdSeq, archivedSeq }, coin, idText(contractId));
  }

  function verifyActiveId({ entryNo: no, idHash }: Entry, id: StoredId, owner: VerifiedOwner, differs: Differs): void {
    const hash = BigInt.asIntN(32, BigInt(storedIdHash(id, owner.migrationId)));
    if (idHash !== hash) differs('held', `id_hash ${hash} by its id in holding`, idHash);
    const twin = heldIds.find(id, owner.migrationId);
    if (twin !== null) differs('held', `to be the only one with the id ${idText(id)}`, `contract ${twin} too`);
    else if (numbers.covers(no) && no <= NUMBER_MAX) heldIds.add(id, owner.migrationId, no);
  }

  return (owner, fold) => {
    const verified = { owner, dso: dsoNow.get() ?? '', fold };
    let rows = 0;
    for (const table of ENTRY_TABLES) {
      for (const entry of statements[table].iterate(owner.id)) {
        verifyEntry(table, entry, verified);
        rows++;
      }
    }
    return rows;
  };
}

type Differs = (table: string, expected: string, found: unknown) => void;

function verifyIntervals(table: EntryTable, entry: Entry, openSeq: bigint, differs: Differs): void {
  const { createdSeq, archivedSeq } = entry;
  if (createdSeq === null || createdSeq < 1n || createdSeq > openSeq)
    differs('holding', `created_seq from 1 to the open interval, ${openSeq}`, createdSeq);
  if (table === 'held') return;
  if (archivedSeq === null || archivedSeq <= (createdSeq ?? 0n) || archivedSeq > openSeq)
    differs('spent', `archived_seq after created_seq ${createdSeq}, up to the open interval, ${openSeq}`, archivedSeq);
}

function verifyFacts(entry: Entry, differs: Differs): void {
  const { locked, template, templateId, createdSeq, createdAt, node, contractId, updateId } = entry;
  if (locked !== 0n && locked !== 1n) differs('holding', 'locked 0 or 1', locked);
  const expected = coinEntity(locked === 1n);
  if (templateId === null) differs('template', `a row ${template}, which holding names`, 'none');
  else if (coinEntityOf(templateId) !== expected)
    differs('holding', `a template of ${expected}, as locked says`, coinEntityOf(templateId) ?? templateId);
  if (createdAt === null || !isLedgerTime(createdAt)) differs('holding', 'created_at in 1970-2200', createdAt);
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

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).join(', ');
  return Buffer.isBuffer(value) ? `x'${value.toString('hex')}'` : String(value);
}
