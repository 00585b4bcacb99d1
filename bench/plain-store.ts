import { mkdtempDisposableSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { linesOf } from './lines.ts';
import { reportRun } from './run-report.ts';

/**
 * The baseline of a replay: what one would write in an afternoon for Scan's form of the feed. Rows keyed by text, totals
 * upserted, batches of 5,000 events; no history, no payload, an archived contract is forgotten, nothing is validated.
 * Totals are exact, as they must be: an amount has up to 38 digits, so they are read, added as bigint and written back.
 */
const BATCH_EVENTS = 5_000;
const COIN_TEMPLATE = /:Splice\.Amulet:(Locked)?Amulet$/;

interface ScanEvent {
  readonly event_type: string;
  readonly contract_id: string;
  readonly template_id: string;
  readonly package_name: string;
  readonly create_arguments: CoinArguments & { readonly amulet?: CoinArguments };
  readonly child_event_ids: readonly string[];
  readonly consuming: boolean;
}

interface CoinArguments {
  readonly dso: string;
  readonly owner: string;
  readonly amount: {
    readonly initialAmount: string;
    readonly createdAt: { readonly number: string };
    readonly ratePerRound: { readonly rate: string };
  };
}

interface ScanUpdate {
  readonly root_event_ids: readonly string[];
  readonly events_by_id: Readonly<Record<string, ScanEvent>>;
}

interface Row {
  readonly owner: string;
  readonly locked: number;
  readonly amount: string;
}

function openStore(file: string): Database.Database {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.pragma('cache_size = -65536');
  db.pragma('wal_autocheckpoint = 20000');
  db.pragma('temp_store = MEMORY');
  db.exec(`
    CREATE TABLE contract (
      contract_id TEXT PRIMARY KEY, owner TEXT NOT NULL, locked INTEGER NOT NULL,
      amount TEXT NOT NULL, rate TEXT NOT NULL, round INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE owner_total (
      owner TEXT NOT NULL, locked INTEGER NOT NULL, contracts INTEGER NOT NULL, amount TEXT NOT NULL,
      PRIMARY KEY (owner, locked)
    ) WITHOUT ROWID;`);
  return db;
}

function replay(db: Database.Database, path: string): void {
  const insert = db.prepare('INSERT INTO contract VALUES (?, ?, ?, ?, ?, ?)');
  const forget = db.prepare<[string], Row>(
    'DELETE FROM contract WHERE contract_id = ? RETURNING owner, locked, amount',
  );
  const total = db.prepare<[string, number], { contracts: number; amount: string }>(
    'SELECT contracts, amount FROM owner_total WHERE owner = ? AND locked = ?',
  );
  const store = db.prepare(`
    INSERT INTO owner_total VALUES (?, ?, ?, ?) ON CONFLICT (owner, locked) DO UPDATE SET
      contracts = excluded.contracts, amount = excluded.amount`);
  let events = 0;
  let theDso: string | null = null;

  function add({ owner, locked, amount }: Row, sign: 1 | -1): void {
    const known = total.get(owner, locked) ?? { contracts: 0, amount: '0' };
    const units = BigInt(known.amount) + BigInt(sign) * BigInt(amount.replace('.', ''));
    store.run(owner, locked, known.contracts + sign, units.toString());
  }
  function create({ contract_id, create_arguments }: ScanEvent, locked: number): void {
    const { dso, owner, amount } = create_arguments.amulet ?? create_arguments;
    theDso ??= dso;
    if (dso !== theDso) return;
    const { initialAmount, ratePerRound, createdAt } = amount;
    insert.run(contract_id, owner, locked, initialAmount, ratePerRound.rate, createdAt.number);
    add({ owner, locked, amount: initialAmount }, 1);
  }
  function archive({ contract_id }: ScanEvent): void {
    const row = forget.get(contract_id);
    if (row !== undefined) add(row, -1);
  }
  function walk({ events_by_id }: ScanUpdate, ids: readonly string[], update: ScanUpdate): void {
    for (const id of ids) {
      const event = events_by_id[id]!;
      const coin = event.package_name === 'splice-amulet' ? COIN_TEMPLATE.exec(event.template_id) : null;
      if (coin !== null && event.event_type === 'created_event') create(event, coin[1] === undefined ? 0 : 1);
      else if (coin !== null && event.consuming) archive(event);
      if (coin !== null) events++;
      if (event.event_type === 'exercised_event') walk(update, event.child_event_ids, update);
    }
  }

  db.exec('BEGIN');
  for (const line of linesOf(path)) {
    const update = JSON.parse(line.toString('utf8')) as ScanUpdate;
    walk(update, update.root_event_ids, update);
    if (events < BATCH_EVENTS) continue;
    db.exec('COMMIT; BEGIN');
    events = 0;
  }
  db.exec('COMMIT');
}

await reportRun(process.argv[2]!, (path) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'holdfast-plain-'));
  const file = join(folder.path, 'plain.db');
  const db = openStore(file);
  replay(db, path);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  return { bytes: statSync(file).size };
});
