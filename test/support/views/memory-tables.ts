import type { Facts, Lookup, Order, RankedBy, StreamFactKinds, TableFactKinds } from '../../../src/holdings/facts.ts';
import type { Oracle } from '../ledger/oracle.ts';
import { changesOf, type FoldedSnapshot, folded, listedOwners, ranked } from '../ledger/oracle-tables.ts';

type ReadTables = { readonly [K in keyof (TableFactKinds & StreamFactKinds)]: (lookup: Lookup<K>) => Facts<K> };

/**
 * The facts of tables and streams, of what the oracle holds in memory. An owner's number is its place in the list of all that
 * a snapshot has; a snapshot's is its place among all, which is the order of sealing where one migration follows another.
 */
export function memoryTables(oracle: Oracle, periodUs: number): ReadTables {
  const all = oracle.snapshots.map((snapshot) => folded(snapshot, false));
  const of = (migrationId: number): FoldedSnapshot[] => all.filter((each) => each.migrationId === migrationId);
  const at = ({ migrationId, recordTime }: { migrationId: number; recordTime: number }): FoldedSnapshot =>
    of(migrationId).find((each) => each.recordTime === recordTime)!;
  const sealed = all.map((snapshot, i) => ({ ...factsOf(snapshot), no: i + 1 }));
  return {
    'last sealed': () => sealed.at(-1) ?? null,
    'sealed place': ({ migrationId, recordTime }) => {
      const found = of(Number(migrationId)).find((each) => BigInt(each.recordTime) === recordTime);
      return found === undefined ? null : all.indexOf(found) + 1;
    },
    'sealed snapshots': ({ after, until, rows }) => sealed.slice(after, Math.min(until, after + rows)),
    'sealed migrations': ({ after, before }) => [
      ...new Set(sealed.slice(after, before - 1).map(({ migrationId }) => migrationId)),
    ],
    'changes of owners': ({ migrationId, owners, from, to }) =>
      owners.map((party) =>
        changesOf(of(migrationId), party).filter(({ recordTime }) => recordTime >= from && recordTime <= to),
      ),
    migration: ({ migrationId }) => {
      const snapshots = of(Number(migrationId ?? all.at(-1)?.migrationId));
      const [oldest, newest] = [snapshots[0], snapshots.at(-1)];
      if (oldest === undefined || newest === undefined) return null;
      const { dso } = oracle;
      return {
        migrationId: newest.migrationId,
        periodUs,
        dso,
        seededAt: null,
        oldest: factsOf(oldest),
        newest: factsOf(newest),
      };
    },
    'listed snapshots': ({ migrationId, from, to, every, order, rows }) => {
      const found = of(migrationId).filter(({ recordTime: t }) => t >= from && t <= to && t % (every ?? 1) === 0);
      return inOrder(found, order).slice(0, rows).map(factsOf);
    },
    changes: ({ migrationId, party, from, to, order, rows }) => {
      const changes = changesOf(of(migrationId), party);
      const within = changes.filter(({ recordTime }) => recordTime >= from && recordTime <= to);
      const before = changes.findLast(({ recordTime }) => recordTime < from)?.after;
      const nothing = { unlocked: 0n, locked: 0n, contracts: 0 };
      return { before: before ?? nothing, changes: inOrder(within, order).slice(0, rows) };
    },
    'listed owners': (lookup) => {
      const { migrationId, recordTime, prefix, after, rows } = lookup;
      const known = listedOwners(
        of(migrationId).filter((each) => each.recordTime <= recordTime),
        prefix,
      );
      const behind = known.slice(after === null ? 0 : known.findIndex(([party]) => party === after) + 1);
      return behind.slice(0, rows).map(([party, totals]) => ({ party, ...totals }));
    },
    ranking: (place) => {
      const snapshot = at(place);
      const numbers = new Map([...snapshot.owners.keys()].map((party, number) => [party, number]));
      const order = (by: RankedBy): Uint32Array =>
        Uint32Array.from(ranked(snapshot, by).map(([party]) => numbers.get(party)!));
      return { total: order('total'), unlocked: order('unlocked'), locked: order('locked') };
    },
    'numbered owners': ({ owners, ...place }) => {
      const all = [...at(place).owners].map(([party, totals]) => ({ party, ...totals }));
      return owners.map((number) => all[number]!);
    },
  };
}

function factsOf({ owners, supply, ...place }: FoldedSnapshot) {
  return { ...place, owners: owners.size, ...supply };
}

function inOrder<Item>(items: readonly Item[], order: Order): Item[] {
  return order === 'asc' ? [...items] : [...items].reverse();
}
