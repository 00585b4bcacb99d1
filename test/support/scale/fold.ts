/** A flat event as any consumer may read it. Nothing here comes from src/: it must not agree by being the same code. */
export interface ReadEvent {
  readonly k: string;
  readonly m: number;
  readonly t: number | null;
  readonly clk: number;
  readonly seq: number;
  readonly cid?: string;
  readonly owner?: string;
  readonly locked?: number;
  readonly amt?: string;
  readonly rate?: string;
  readonly round?: number;
  readonly rr?: string;
  readonly expires?: string | null;
  readonly fp?: string;
  readonly at?: number;
  readonly upd?: string | null;
  readonly node?: number;
  readonly tpl?: string;
  readonly extra?: string | null;
  readonly seeded?: number;
}

export interface FoldedCoin {
  readonly create: ReadEvent;
  /** Of the interval in which it was archived; Infinity while it is active. */
  archivedSeq: number;
}

export interface FoldedMigration {
  readonly coins: Map<string, FoldedCoin>;
  readonly counterfeits: Set<string>;
  readonly rounds: Map<string, number>;
  readonly archivedRounds: Set<string>;
  /** The intervals that have an event, with the time of the first update in each that is no import; Infinity for none. */
  readonly intervals: Map<number, number>;
  /** Of the intervals that have something of a snapshot import, the largest `seeded`. */
  readonly seeded: Map<number, number>;
}

export interface OwnerTotals {
  unlocked: bigint[];
  locked: bigint[];
}

/** Everything that partitions of flat events say, by brute force; throws for what is no ledger. */
export function foldFlat(partitions: readonly (readonly ReadEvent[])[]): Map<number, FoldedMigration> {
  const all = partitions.flatMap((events, partition) => events.map((event, at) => ({ event, partition, at })));
  all.sort((a, b) => a.event.clk - b.event.clk || a.partition - b.partition || a.at - b.at);
  const migrations = new Map<number, FoldedMigration>();
  for (const { event } of all) apply(migrationOf(migrations, event.m), event);
  return migrations;
}

function migrationOf(migrations: Map<number, FoldedMigration>, m: number): FoldedMigration {
  const known = migrations.get(m) ?? {
    coins: new Map(),
    counterfeits: new Set(),
    rounds: new Map(),
    archivedRounds: new Set(),
    intervals: new Map(),
    seeded: new Map(),
  };
  migrations.set(m, known);
  return known;
}

function apply(migration: FoldedMigration, event: ReadEvent): void {
  const { coins, counterfeits, rounds, archivedRounds } = migration;
  const { k, seq, t, cid = '' } = event;
  const first = k === 'T' || t === null ? Infinity : t;
  migration.intervals.set(seq, Math.min(migration.intervals.get(seq) ?? Infinity, first));
  if (event.seeded !== undefined) migration.seeded.set(seq, Math.max(migration.seeded.get(seq) ?? 0, event.seeded));
  if (k === 'C') {
    const known = coins.get(cid);
    if (known !== undefined && known.create.fp !== event.fp) throw new Error(`${cid} has two contents`);
    if (known === undefined) coins.set(cid, { create: event, archivedSeq: Infinity });
  } else if (k === 'G') counterfeits.add(cid);
  else if (k === 'O') rounds.set(cid, event.round!);
  else if (k === 'X') archivedRounds.add(cid);
  else if (k === 'A' || k === 'P') {
    const coin = coins.get(cid);
    if (coin !== undefined) coin.archivedSeq = Math.min(coin.archivedSeq, seq);
    else if (k === 'P') archivedRounds.add(cid);
    else if (!counterfeits.has(cid)) throw new Error(`${cid} was never created`);
  } else if (k !== 'M' && k !== 'T') throw new Error(`an event of kind ${k}`);
}

/** Count, amount, rate, and rate times round of each owner's coins at a snapshot, unlocked and locked, in 1e-10 units. */
export function totalsAt({ coins }: FoldedMigration, seq: number): Map<string, OwnerTotals> {
  const owners = new Map<string, OwnerTotals>();
  for (const { create, archivedSeq } of coins.values()) {
    if (create.seq > seq || archivedSeq <= seq) continue;
    const totals = owners.get(create.owner!) ?? { unlocked: [0n, 0n, 0n, 0n], locked: [0n, 0n, 0n, 0n] };
    owners.set(create.owner!, totals);
    const side = create.locked === 1 ? totals.locked : totals.unlocked;
    const [amount, rate] = [units(create.amt!), units(create.rate!)];
    for (const [i, value] of [1n, amount, rate, rate * BigInt(create.round!)].entries()) side[i]! += value;
  }
  return owners;
}

/** Digits with ten decimals as a whole number of the last. */
export function units(text: string): bigint {
  if (!/^\d+\.\d{10}$/.test(text)) throw new Error(`${text} has not ten decimals`);
  return BigInt(text.replace('.', ''));
}
