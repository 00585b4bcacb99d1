import type { Database } from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import { rowOrder } from '../store/row-order.ts';
import { BulkRows, decodeVersion, encodeVersion, NO_SUMS, noSums, type Sums } from '../store/stored-rows.ts';
import type { MigrationState, WriterState } from './state.ts';

/** An owner in one migration, with the sums of the open interval. */
export interface Owner {
  readonly no: number;
  readonly migration: MigrationState;
  readonly party: string;
  unlocked: Sums;
  locked: Sums;
  /** Whether the sums changed since a version was last written or queued. */
  dirty: boolean;
}

/** The sums of one kind of an owner's coin, to be changed. */
export function sumsOf(owner: Owner, kind: 'locked' | 'unlocked'): Sums {
  if (owner[kind] === NO_SUMS) owner[kind] = noSums();
  return owner[kind];
}

/** With more owners than these all are dropped, between batches, when every change is in the database. */
const OWNERS_MAX = 50_000;

/** Owners by party and by number: a bounded cache over `owner` and `owner_total`. */
export class Owners {
  readonly #state: WriterState;
  readonly #byParty;
  readonly #byNo;
  readonly #version;
  readonly #insertOwner: BulkRows;
  readonly #insertVersion: BulkRows;
  readonly #ofNo = new Map<number, Owner>();
  readonly #ofParty = new Map<MigrationState, Map<string, Owner>>();
  #added: Owner[] = [];
  #dirty = new Map<MigrationState, Owner[]>();
  readonly #versions = new QueuedVersions();

  constructor(db: Database, state: WriterState) {
    this.#state = state;
    this.#byParty = db
      .prepare<[number, string], number>('SELECT id FROM owner WHERE migration_id = ? AND party = ?')
      .pluck();
    this.#byNo = db.prepare<[number], { migrationId: number; party: string }>(
      'SELECT migration_id AS migrationId, party FROM owner WHERE id = ?',
    );
    this.#version = db
      .prepare<[number], Buffer>('SELECT v FROM owner_total WHERE owner = ? + 0 ORDER BY seq DESC LIMIT 1')
      .pluck();
    this.#insertOwner = BulkRows.inserting(db, 'INSERT INTO owner', 3);
    this.#insertVersion = BulkRows.inserting(db, 'INSERT OR REPLACE INTO owner_total', 3);
  }

  /** The owner of that name, numbered by first appearance in the feed. */
  ofParty(migration: MigrationState, party: string): Owner {
    const known = this.find(migration, party);
    if (known !== undefined) return known;
    const owner = { no: this.#state.nextOwner++, migration, party, unlocked: NO_SUMS, locked: NO_SUMS, dirty: false };
    this.#added.push(owner);
    return this.#remember(owner);
  }

  /** The owner of that name; undefined where the migration has had no coin of it. */
  find(migration: MigrationState, party: string): Owner | undefined {
    const known = this.#ofParty.get(migration)?.get(party);
    if (known !== undefined) return known;
    const no = this.#byParty.get(migration.migrationId, party);
    return no === undefined ? undefined : this.#load(no, migration, party);
  }

  ofNo(no: number): Owner {
    const known = this.#ofNo.get(no);
    if (known !== undefined) return known;
    const row = this.#byNo.get(no);
    const migration = row === undefined ? undefined : this.#state.migrations.get(row.migrationId);
    if (row === undefined || migration === undefined) throw new Error(`owner ${no} of a holding is not in views.db`);
    return this.#load(no, migration, row.party);
  }

  #load(no: number, migration: MigrationState, party: string): Owner {
    const v = this.#version.get(no);
    const sums = v === undefined ? { unlocked: NO_SUMS, locked: NO_SUMS } : decodeVersion(v);
    return this.#remember({ no, migration, party, ...sums, dirty: false });
  }

  #remember(owner: Owner): Owner {
    this.#ofNo.set(owner.no, owner);
    getOrMake(this.#ofParty, owner.migration, () => new Map()).set(owner.party, owner);
    return owner;
  }

  /** Called at each create and archive: the owner gets a version in the open interval. */
  touch(owner: Owner): void {
    if (owner.dirty) return;
    owner.dirty = true;
    getOrMake(this.#dirty, owner.migration, () => []).push(owner);
  }

  /** Queues a version of every owner changed in the migration's open interval. */
  queueVersions(migration: MigrationState): void {
    const dirty = this.#dirty.get(migration);
    if (dirty === undefined) return;
    for (const owner of dirty) {
      this.#versions.push(owner.no, migration.openSeq, owner);
      owner.dirty = false;
    }
    this.#dirty.delete(migration);
  }

  /** Writes new owners and all versions, those of the open intervals included; inside the batch's transaction. */
  flush(): void {
    for (const migration of [...this.#dirty.keys()]) this.queueVersions(migration);
    for (const { no, migration, party } of this.#added) this.#insertOwner.add(no, migration.migrationId, party);
    this.#insertOwner.finish();
    this.#versions.each((owner, seq, v) => this.#insertVersion.add(owner, seq, v));
    this.#insertVersion.finish();
  }

  afterCommit(): void {
    this.#added = [];
    this.#versions.clear();
    if (this.#ofNo.size <= OWNERS_MAX) return;
    this.#ofNo.clear();
    this.#ofParty.clear();
  }
}

const VERSION_BYTES_MIN = 64 * 1024;

/** The rows of `owner_total` that wait for the commit, as numbers and bytes: an object for each would be collected again and again. */
class QueuedVersions {
  readonly #owners: number[] = [];
  readonly #seqs: number[] = [];
  readonly #ends: number[] = [];
  #bytes: Buffer = Buffer.allocUnsafeSlow(VERSION_BYTES_MIN);
  #length = 0;

  push(owner: number, seq: number, { unlocked, locked }: { unlocked: Sums; locked: Sums }): void {
    const v = encodeVersion(unlocked, locked);
    if (this.#length + v.length > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.allocUnsafe(Math.max(this.#bytes.length, v.length))]);
    this.#bytes.set(v, this.#length);
    this.#length += v.length;
    this.#owners.push(owner);
    this.#seqs.push(seq);
    this.#ends.push(this.#length);
  }

  /** Passes on all of them in the order of the table's key, those of one owner as they were queued. Bytes are valid until the next change. */
  each(take: (owner: number, seq: number, v: Buffer) => void): void {
    for (const i of rowOrder(this.#owners, (owner) => owner)) this.#pass(i, take);
  }

  #pass(i: number, take: (owner: number, seq: number, v: Buffer) => void): void {
    take(this.#owners[i]!, this.#seqs[i]!, this.#bytes.subarray(i === 0 ? 0 : this.#ends[i - 1], this.#ends[i]));
  }

  clear(): void {
    this.#owners.length = 0;
    this.#seqs.length = 0;
    this.#ends.length = 0;
    this.#length = 0;
  }
}
