import type { Client } from 'pg';
import { eventsOfLines } from './decoded.ts';
import { type FoldedMigration, foldFlat, type ReadEvent, units } from './fold.ts';

/** A row by the names of its columns; numbers that may be large are texts. */
export type Row = Readonly<Record<string, unknown>>;
export type Tables = Readonly<Record<string, readonly Row[]>>;

/** What a stream engine writes of a migration, in plain arithmetic; without its last interval, which nothing has closed. */
export function tablesOf(migrationId: number, migration: FoldedMigration): Tables {
  const last = Math.max(...migration.intervals.keys());
  const intervals = new Map(migration.intervals);
  // As if a mark had come there: quiet intervals are sealed with the next one that has a control row.
  if (intervals.size > 1 && !intervals.has(last - 1)) intervals.set(last - 1, Infinity);
  return closedTables(migrationId, { ...migration, intervals }, last);
}

/** What it writes of the intervals before one. */
export function closedTables(migrationId: number, migration: FoldedMigration, last: number): Tables {
  const intervals = [...migration.intervals.keys()].filter((seq) => seq < last).sort((a, b) => a - b);
  const migration_id = migrationId;
  const coins = [...migration.coins].filter(([, { create }]) => create.seq < last);
  const spent = coins.filter(([, { archivedSeq }]) => archivedSeq < last);
  const totals = ownerTotals(migration, last);
  let active = 0;
  const control = intervals.map((seq, i) => {
    const created = coins.filter(([, { create }]) => create.seq === seq).length;
    const archived = spent.filter(([, { archivedSeq }]) => archivedSeq === seq).length;
    active += created - archived;
    const first = migration.intervals.get(seq) ?? Infinity;
    const rows = totals.filter((row) => row.seq === seq).length;
    const counts = { owner_rows: rows, created, archived, faults: 0, coins: active };
    const seeded_at = migration.seeded.get(seq) ?? null;
    return { migration_id, seq, link: i + 1, ...counts, first_t: first === Infinity ? null : first, seeded_at };
  });
  return {
    owner_total: totals.map((row) => ({ migration_id, ...row })),
    snapshot_control: control,
    coin: coins.map(([contract_id, { create }]) => ({
      migration_id,
      contract_id,
      created_seq: create.seq,
      owner: create.owner,
      locked: create.locked,
      amount: create.amt,
      rate: create.rate,
      round: create.round,
      expires: create.expires,
      created_at: create.at,
      created_in: create.upd,
      node: create.node,
      template_id: create.tpl,
      extra: create.extra,
    })),
    spent: spent.map(([contract_id, { archivedSeq }]) => ({ migration_id, contract_id, archived_seq: archivedSeq })),
    round_opened: [...migration.rounds].map(([contract_id, round]) => ({ migration_id, contract_id, round })),
    round_archived: [...migration.archivedRounds].map((contract_id) => ({ migration_id, contract_id })),
  };
}

const decimal = (value: bigint): string => {
  const digits = value.toString().padStart(11, '0');
  return `${digits.slice(0, -10)}.${digits.slice(-10)}`;
};

/** A row for each owner and interval in which a coin of the owner came or went. */
function ownerTotals({ coins }: FoldedMigration, last: number): (Row & { readonly seq: number })[] {
  const byOwner = Map.groupBy(coins.values(), ({ create }) => create.owner!);
  return [...byOwner].flatMap(([owner, own]) => {
    const seqs = new Set(own.flatMap(({ create, archivedSeq }) => [create.seq, archivedSeq]));
    return [...seqs]
      .filter((seq) => seq < last)
      .map((seq) => {
        const created = own.filter(({ create }) => create.seq <= seq);
        const expiries = created.flatMap(({ create }) => (create.expires == null ? [] : [BigInt(create.expires)]));
        const sums = (locked: number): readonly (bigint | string)[] => {
          const held = created.filter((coin) => coin.create.locked === locked && coin.archivedSeq > seq);
          const sum = (of: (coin: (typeof held)[number]) => bigint): string =>
            decimal(held.reduce((all, coin) => all + of(coin), 0n));
          const rate = ({ create }: (typeof held)[number]): bigint => units(create.rate!);
          const amount = sum(({ create }) => units(create.amt!));
          return [BigInt(held.length), amount, sum(rate), sum((coin) => rate(coin) * BigInt(coin.create.round!))];
        };
        const [u_coins, u_amount, u_rate, u_rate_round] = sums(0);
        const [l_coins, l_amount, l_rate, l_rate_round] = sums(1);
        const expires = expiries.length === 0 ? null : expiries.reduce((least, each) => (each < least ? each : least));
        return {
          owner,
          seq,
          u_coins,
          u_amount,
          u_rate,
          u_rate_round,
          l_coins,
          l_amount,
          l_rate,
          l_rate_round,
          expires,
        };
      });
  });
}

/** Upserts rows as a stream engine does, in one statement for a table. */
export async function upsert(client: Client, tables: Tables): Promise<void> {
  for (const [table, rows] of Object.entries(tables)) {
    if (rows.length === 0) continue;
    const columns = Object.keys(rows[0]!);
    const json = JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    await client.query(
      `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM json_populate_recordset(NULL::${table}, $1)
       ON CONFLICT ON CONSTRAINT ${table}_pkey DO UPDATE SET ${columns.map((name) => `${name} = EXCLUDED.${name}`).join(', ')}`,
      [json],
    );
  }
}

/** The rows of a feed, table by table. */
export function tablesOfFeed(
  lines: readonly string[],
  { dso, migrationId }: { dso: string; migrationId: number },
): Tables {
  const read = eventsOfLines(lines, { dso, migrationId });
  return joined([...foldFlat([read])].map(([id, migration]) => tablesOf(id, migration)));
}

function joined(all: readonly Tables[]): Tables {
  const names = Object.keys(all[0]!);
  return Object.fromEntries(names.map((name) => [name, all.flatMap((tables) => tables[name]!)]));
}

/** What the job writes of a topic: of the last migration without its last interval, which nothing has closed. */
export function expectedTables(partitions: readonly (readonly ReadEvent[])[]): Tables {
  const folded = foldFlat(partitions);
  const newest = Math.max(...folded.keys());
  return joined(
    [...folded].map(([id, migration]) =>
      closedTables(id, migration, id === newest ? Math.max(...migration.intervals.keys()) : Infinity),
    ),
  );
}

/** The rows of each table as texts, in one order. */
export function textsOf(tables: Tables): Record<string, string[]> {
  return Object.fromEntries(Object.entries(tables).map(([table, rows]) => [table, rows.map(textOf).sort()]));
}

function textOf(row: Row): string {
  const columns = Object.entries(row).map(([name, value]) => `${name}=${value ?? 'null'}`);
  return columns.join(' ');
}

/** The same of what is stored, of the columns that are expected. */
export async function storedTexts(client: Client, expected: Tables): Promise<Record<string, string[]>> {
  const stored: Record<string, Row[]> = {};
  for (const [table, rows] of Object.entries(expected)) {
    const columns = Object.keys(rows[0]!).join(', ');
    stored[table] = (await client.query<Row>(`SELECT ${columns} FROM ${table}`)).rows;
  }
  return textsOf(stored);
}
