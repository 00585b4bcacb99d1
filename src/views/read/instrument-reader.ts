import type { Database } from 'better-sqlite3';
import {
  ACCOUNTS_MAX,
  type AccountTotals,
  type InstrumentsLookup,
  type ListedInstrument,
  type Lookup,
  NO_COIN,
  type OwnedInstrument,
  type Supply,
  type Totals,
  type Unreadable,
} from '../../holdings/facts.ts';
import type { InstrumentName } from '../../holdings/instrument.ts';
import { lazy } from '../../lazy.ts';
import { idText, type StoredId } from '../../ledger/ledger-ids.ts';
import { epochBitsOf } from '../store/account-epochs.ts';
import type { Account, AccountReader, VersionReader } from './owner-versions.ts';
import { BEGINNING, ID_TEXT, type IntervalEnd, type SealedGrid, type StoredSnapshot } from './stored-snapshots.ts';
import { prepareIsLimited } from './update-effects.ts';

type InstrumentRow = InstrumentName & { readonly no: number; readonly isCoin: number };

type SupplyRow = Readonly<Record<'seq' | 'contracts' | 'owners', number> & Record<'unlocked' | 'locked', string>>;

type OwnedAccount = Account & { readonly provider: string; readonly accountId: string };

interface UnreadableRow extends Omit<Unreadable, 'contractId' | 'stakeholders'> {
  readonly contractId: StoredId;
  readonly stakeholders: string;
}

const NO_SUPPLY: Supply = { contracts: 0, owners: 0, unlocked: 0n, locked: 0n };

/** Whether a snapshot of the grid, up to that one, was sealed while one of these versions was the newest and had contracts. */
export function wasHeld(
  versions: Iterable<{ readonly seq: number; readonly totals: Pick<Totals, 'contracts'> }>,
  { snapshot, grid }: { readonly snapshot: IntervalEnd; readonly grid: SealedGrid },
): boolean {
  /** The number of the snapshot of the grid that sealed it, unless the next version comes before it. */
  let sealing = Infinity;
  for (const version of versions) {
    if (version.seq > sealing) return true;
    sealing = version.totals.contracts > 0 ? (grid.find(version.seq)?.seq ?? Infinity) : Infinity;
  }
  return sealing <= snapshot.seq;
}

/** Reads what there is of instruments, and which of them a party has. `? + 0`: see views/store/database.ts. */
export function createInstrumentReader(
  db: Database,
  { accounts, versions }: { accounts: AccountReader; versions: VersionReader },
) {
  const kept = db.prepare<[], number | null>('SELECT tokens FROM setting').pluck();
  const newest = db.prepare<[number, number], SupplyRow>(
    'SELECT seq, contracts, owners, unlocked, locked FROM supply WHERE instrument = ? + 0 AND seq <= ? + 0 ORDER BY seq DESC LIMIT 1',
  );
  const upTo = db.prepare<[number, number], SupplyRow>(
    'SELECT seq, contracts, owners, unlocked, locked FROM supply WHERE instrument = ? + 0 AND seq <= ? + 0 ORDER BY seq',
  );
  const instruments = db.prepare<[number, string, string], InstrumentRow>(
    `SELECT id AS no, admin, name AS id, id IS coin AS isCoin FROM instrument JOIN migration USING (migration_id)
     WHERE migration_id = ? + 0 AND (admin, name) > (?, ?) ORDER BY admin, name`,
  );
  const owned = db.prepare<[number, string], OwnedAccount>(
    `SELECT id AS no, owner AS party, provider, account_id AS accountId, ${epochBitsOf('id')} AS epochs
     FROM account WHERE instrument = ? + 0 AND owner = ? || '' ORDER BY provider, account_id`,
  );
  const isLimited = prepareIsLimited(db);
  // The event loop, which has no statement that sorts, does not read them.
  const unreadable = lazy(() =>
    db.prepare<[number, string, number], UnreadableRow>(
      `SELECT contract_id AS contractId, template_id AS templateId, reason, stakeholders FROM unreadable
     WHERE migration_id = ? + 0 AND ${ID_TEXT} > ? || '' ORDER BY ${ID_TEXT} LIMIT ?`,
    ),
  );

  function supplyOf(no: number, { seq }: IntervalEnd): Supply {
    const row = newest.get(no, seq);
    if (row === undefined) return NO_SUPPLY;
    const { contracts, owners, unlocked, locked } = row;
    return { contracts, owners, unlocked: BigInt(unlocked), locked: BigInt(locked) };
  }

  const behind = ({ migrationId, after }: InstrumentsLookup): readonly InstrumentRow[] =>
    instruments.all(migrationId, after?.admin ?? '', after?.id ?? '');

  function ownedOf({ no, admin, id }: InstrumentRow, party: string, at: At): OwnedInstrument | null {
    const range = { after: BEGINNING, to: at.snapshot };
    const all: AccountTotals[] = [];
    const sum = { ...NO_COIN };
    // Anyone may make many accounts of a party, so little is read of each.
    for (const account of owned.iterate(no, party)) {
      const newest = versions.newestAt(account, at.snapshot);
      if (newest === null || !(wasHeld([newest], at) || wasHeld(versions.between([account], range, 'asc'), at)))
        continue;
      const { unlocked, locked, contracts } = newest.totals;
      all.push({ provider: account.provider || null, accountId: account.accountId, unlocked, locked });
      sum.unlocked += unlocked;
      sum.locked += locked;
      sum.contracts += contracts;
    }
    if (all.length === 0) return null;
    // They are in their order, and stay in it where they are equally large.
    const largest = new Set(all.toSorted(bySize).slice(0, ACCOUNTS_MAX));
    const listed = all.filter((each) => largest.has(each));
    return { admin, id, ...sum, accounts: listed, accountsTotal: all.length };
  }

  return {
    /** Whether the directory has tokens, or may get some: that is decided with the first update. */
    mayBeKept: () => kept.get() !== 0,
    /** Null where the migration does not know the instrument. */
    supplyAt(
      of: { readonly migrationId: number; readonly instrument: InstrumentName },
      end: IntervalEnd,
    ): Supply | null {
      const no = accounts.noOf(of);
      return no === undefined || no === null ? null : supplyOf(no, end);
    },
    list(lookup: InstrumentsLookup, snapshot: StoredSnapshot, grid: SealedGrid): readonly ListedInstrument[] {
      const listed: ListedInstrument[] = [];
      for (const { no, admin, id, isCoin } of behind(lookup)) {
        const held = Iterator.from(upTo.iterate(no, snapshot.seq)).map((row) => ({ seq: row.seq, totals: row }));
        if (!wasHeld(held, { snapshot, grid })) continue;
        const scope = isCoin === 1 && !isLimited() ? 'network' : 'followed';
        listed.push({ admin, id, ...supplyOf(no, snapshot), scope });
        if (listed.length === lookup.rows) break;
      }
      return listed;
    },
    ofOwner(
      lookup: Lookup<'instruments of owner'>,
      snapshot: StoredSnapshot,
      grid: SealedGrid,
    ): readonly OwnedInstrument[] {
      const listed: OwnedInstrument[] = [];
      for (const instrument of behind(lookup)) {
        const found = ownedOf(instrument, lookup.party, { snapshot, grid });
        if (found !== null && listed.push(found) === lookup.rows) break;
      }
      return listed;
    },
    unreadable: ({ migrationId, after, rows }: Lookup<'unreadable'>): readonly Unreadable[] =>
      unreadable()
        .all(migrationId, after ?? '', rows)
        .map(({ contractId, stakeholders, ...row }) => {
          return { ...row, contractId: idText(contractId), stakeholders: stakeholders.split('|') };
        }),
  };
}

type At = { readonly snapshot: StoredSnapshot; readonly grid: SealedGrid };

function bySize(a: AccountTotals, b: AccountTotals): number {
  const [x, y] = [a.unlocked + a.locked, b.unlocked + b.locked];
  return x === y ? 0 : x > y ? -1 : 1;
}
