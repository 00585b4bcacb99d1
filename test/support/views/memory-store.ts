import type {
  CoinSums,
  FactKind,
  Facts,
  HoldingsStore,
  Lookup,
  OwnerFacts,
  OwnerSums,
  PageFacts,
  Snapshot,
  SnapshotChoice,
} from '../../../src/holdings/facts.ts';
import type { CoinPayload } from '../ledger/history.ts';
import type { ActiveCoin, Oracle, OracleSnapshot } from '../ledger/oracle.ts';
import { coinOf, ordered, ownersOf, snapshotAfter, snapshotAt, supplyOf } from '../ledger/oracle-answers.ts';
import { createArguments, plainDecimal } from '../ledger/wire-text.ts';
import { memoryTables } from './memory-tables.ts';
import { TEN_MINUTES_US } from './replayed.ts';

type ReadKind = { readonly [K in FactKind]: (lookup: Lookup<K>) => Facts<K> };

/**
 * Another store than SQLite: the facts of what the oracle has in memory. A token is a contract's place among all of a
 * snapshot.
 */
export function memoryStore(oracle: Oracle): HoldingsStore {
  const find = ({ migrationId, recordTime, match }: SnapshotChoice): OracleSnapshot | null => {
    const migration = Number(migrationId ?? oracle.lastMigration);
    if (recordTime === null) return oracle.snapshots.findLast((each) => each.migrationId === migration) ?? null;
    return snapshotAt(oracle, { migrationId: migration, recordTime: Number(recordTime), match });
  };
  const readers: ReadKind = {
    snapshot: ({ snapshot }) => figuresOf(find(snapshot)),
    'snapshot after': ({ migrationId, recordTime }) =>
      figuresOf(snapshotAfter(oracle, { migrationId: Number(migrationId), recordTime: Number(recordTime) })),
    'newest snapshots': () => {
      const migrations = [...new Set(oracle.snapshots.map(({ migrationId }) => migrationId))];
      return migrations.map((id) => figuresOf(oracle.snapshots.findLast(({ migrationId }) => migrationId === id)!)!);
    },
    snapshots: () => oracle.snapshots.map((each) => figuresOf(each)!),
    followed: () => ({ isLimited: false, others: [] }),
    'last migration': () => oracle.lastMigration,
    dso: () => oracle.dso,
    owners: ({ snapshot, owners, round }) => {
      const found = find(snapshot);
      const asOf = round === 'lowest open' ? oracle.lowestOpenRound : round;
      const facts = found === null ? [] : owners.map((party) => ownerAt(found, party, asOf));
      return { snapshot: figuresOf(found), round: asOf, owners: facts };
    },
    page: (lookup) => pageOf(find(lookup.snapshot), lookup),
    ...memoryTables(oracle, TEN_MINUTES_US),
  };
  return { facts: async (lookup) => readers[lookup.kind](lookup) };
}

function figuresOf(snapshot: OracleSnapshot): Snapshot;
function figuresOf(snapshot: OracleSnapshot | null): Snapshot | null;
function figuresOf(snapshot: OracleSnapshot | null): Snapshot | null {
  if (snapshot === null) return null;
  const { coins, ...place } = snapshot;
  const owners = ownersOf(snapshot).length;
  return { ...place, forced: false, contracts: coins.length, owners, ...supplyOf(snapshot) };
}

function ownerAt(snapshot: OracleSnapshot, party: string, round: bigint | null): OwnerFacts {
  const coins = ordered(snapshot, [party]).map(coinOf);
  const [unlocked, locked] = [coins.filter(({ lock }) => lock === null), coins.filter(({ lock }) => lock !== null)];
  const expired = (some: readonly CoinPayload[]): CoinSums =>
    sumsOf(some.filter((coin) => round !== null && expiryOf(coin) <= round));
  const all = { unlocked: sumsOf(unlocked), locked: sumsOf(locked) };
  return { party, ...all, expired: { unlocked: expired(unlocked), locked: expired(locked) } };
}

function expiryOf({ amount, rate, round }: CoinPayload): bigint | number {
  return rate === 0n ? Infinity : round + (amount + rate - 1n) / rate;
}

function sumsOf(coins: readonly CoinPayload[]): OwnerSums {
  const sum = (value: (coin: CoinPayload) => bigint): bigint => coins.reduce((all, coin) => all + value(coin), 0n);
  return {
    count: coins.length,
    amount: sum(({ amount }) => amount),
    rate: sum(({ rate }) => rate),
    rateRound: sum(({ rate, round }) => rate * round),
    expiryBound: coins.map(expiryOf).reduce((least, each) => (each < least ? each : least), Infinity),
  };
}

function pageOf(snapshot: OracleSnapshot | null, { owners, after, pageSize }: Lookup<'page'>): PageFacts {
  if (snapshot === null) return { found: 'no snapshot' };
  const all = ordered(snapshot, ownersOf(snapshot));
  const from = after === null ? 0 : Number(after);
  if (after !== null && (from < 1 || from > all.length)) return { found: 'no such token' };
  const behind = all.slice(from).filter((coin) => owners.includes(coinOf(coin).owner));
  const page = behind.slice(0, pageSize);
  const next = behind.length > pageSize ? BigInt(all.indexOf(page.at(-1)!) + 1) : null;
  return { found: 'page', snapshot: figuresOf(snapshot), contracts: page.map(contractOf), next };
}

function contractOf({ contract, updateId, node }: ActiveCoin): Extract<PageFacts, { found: 'page' }>['contracts'][0] {
  const { contractId, templateId, packageName, createdAt, signatories, observers } = contract;
  const args = createArguments(contract, plainDecimal) as Readonly<Record<string, unknown>>;
  return {
    contractId,
    templateId,
    packageName,
    updateId,
    node,
    createdAt,
    createArguments: args,
    signatories,
    observers,
  };
}
