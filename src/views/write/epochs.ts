import type { Database } from 'better-sqlite3';
import { type EpochBits, hasEpoch, withEpoch } from '../store/account-epochs.ts';
import { BulkRows } from '../store/stored-rows.ts';

/** Creates and archives of coins after which an epoch is closed: measured; with more, a transaction writes more pages of it. */
export const EPOCH_EVENTS = 250_000;

/** An epoch is cleared of archived coins once they are a quarter of its rows of `held`, and at least 1,000 of 250,000 events. */
const GONE_SHARE = 4;
const EVENTS_PER_GONE_MIN = 250;
/** Of that many events, 25,000 rows of `held` are looked at in one transaction to clear an epoch: some 50 ms. */
const EVENTS_PER_CLEARED_ROW = 10;

type AccountEpochs = { readonly no: number; epochs: EpochBits };

/** The interval that was open at a migration's last commit, and its epoch; 0 where there was none. */
export type StoredInterval = Readonly<Record<'openSeq' | 'openEpoch', number>>;

interface EpochRow {
  readonly no: number;
  readonly firstNo: number;
  events: number;
  minCreated: number | null;
  maxCreated: number | null;
  held: number;
  gone: number;
}

/**
 * The epochs of views.db (docs/store.md): what keeps the rows that a batch writes together. All changes are written by `flush`, in the
 * batch's transaction.
 */
export class Epochs {
  readonly #epochs: EpochRow[];
  readonly #changed = new Set<EpochRow>();
  readonly #eventsMax: number;
  readonly #put;
  readonly #gone: BulkRows;
  readonly #clearing;
  readonly #accountEpochs: BulkRows;
  /** Accounts that have rows in an epoch for the first time. */
  #moved = new Map<number, EpochBits>();

  constructor(db: Database, eventsMax: number = EPOCH_EVENTS) {
    this.#eventsMax = eventsMax;
    this.#epochs = db
      .prepare<[], EpochRow>(
        `SELECT no, first_no AS firstNo, events, min_created AS minCreated, max_created AS maxCreated, held, gone
         FROM epoch ORDER BY no`,
      )
      .all();
    this.#put = db.prepare('INSERT OR REPLACE INTO epoch VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#gone = BulkRows.inserting(db, 'INSERT INTO gone', 1);
    this.#clearing = createClearing(db, Math.ceil(eventsMax / EVENTS_PER_CLEARED_ROW));
    this.#accountEpochs = BulkRows.inserting(db, 'INSERT OR REPLACE INTO account_epochs', 2);
    if (this.#epochs.length === 0) this.#begin(1, 1);
  }

  get newest(): number {
    return this.#newest.no;
  }

  get #newest(): EpochRow {
    return this.#epochs.at(-1)!;
  }

  /** Whether a coin's row of `held` is in the newest epoch. */
  isNewest(no: number): boolean {
    return no >= this.#newest.firstNo;
  }

  addEvents(events: number): void {
    this.#newest.events += events;
    this.#changed.add(this.#newest);
  }

  /** The epoch of an interval's rows: the one that was the newest when it opened. */
  ofInterval({ stored }: { readonly stored: StoredInterval }, seq: number): number {
    return seq === stored.openSeq ? stored.openEpoch : this.newest;
  }

  /** Notes the time of a create, whether it leaves a row of `held` or not: that depends on where a batch ends. */
  addCreated(createdAt: number): void {
    const { minCreated, maxCreated } = this.#newest;
    this.#newest.minCreated = Math.min(minCreated ?? createdAt, createdAt);
    this.#newest.maxCreated = Math.max(maxCreated ?? createdAt, createdAt);
  }

  addHeld(account: AccountEpochs): void {
    this.#newest.held += 1;
    this.addAccount(account, this.newest);
  }

  removeHeld(): void {
    this.#newest.held -= 1;
  }

  /** Notes that a coin of a closed epoch was archived. To be called in the order of numbers. */
  addGone(no: number): void {
    const epoch = this.#epochs.findLast(({ firstNo }) => firstNo <= no)!;
    epoch.gone += 1;
    this.#changed.add(epoch);
    this.#gone.add(no);
  }

  addAccount(account: AccountEpochs, epoch: number): void {
    if (hasEpoch(account.epochs, epoch)) return;
    const bits = withEpoch(account.epochs, epoch);
    account.epochs = bits;
    this.#moved.set(account.no, bits);
  }

  /** Clears a closed epoch where many of its coins are gone, and closes the newest one where it is full: the next coin has number `nextNo`. */
  flush(nextNo: number): void {
    this.#gone.finish();
    for (const account of Float64Array.from(this.#moved.keys()).sort())
      this.#accountEpochs.add(account, Buffer.from(this.#moved.get(account)!, 'hex'));
    this.#accountEpochs.finish();
    this.#clear();
    if (this.#newest.events >= this.#eventsMax) this.#begin(this.newest + 1, nextNo);
    for (const { no, firstNo, events, minCreated, maxCreated, held, gone } of this.#changed)
      this.#put.run(no, firstNo, events, minCreated, maxCreated, held, gone);
  }

  #begin(no: number, firstNo: number): void {
    const epoch = { no, firstNo, events: 0, minCreated: null, maxCreated: null, held: 0, gone: 0 };
    this.#epochs.push(epoch);
    this.#changed.add(epoch);
  }

  /** One epoch a transaction, and of that only a part: the next one goes on. */
  #clear(): void {
    const goneMin = this.#eventsMax / EVENTS_PER_GONE_MIN;
    const due = this.#epochs
      .slice(0, -1)
      .filter(({ held, gone }) => gone > 0 && gone >= Math.max(held / GONE_SHARE, goneMin))
      .sort((a, b) => b.gone - a.gone);
    const epoch = due.find(({ no }) => no === this.#clearing.epoch) ?? due[0];
    if (epoch === undefined) return;
    const cleared = this.#clearing.clear(epoch.no);
    epoch.held -= cleared;
    epoch.gone -= cleared;
    this.#changed.add(epoch);
  }

  afterCommit(): void {
    this.#changed.clear();
    this.#moved = new Map();
  }
}

type HeldKey = [account: number, createdAt: number, no: number];

const BEFORE_ALL: HeldKey = [-1, 0, 0];
const AFTER_ALL: HeldKey = [Number.MAX_SAFE_INTEGER, 0, 0];

/** Deletes rows of `held` that are gone, part by part. Where it is in an epoch is only in memory: it may begin again at any time. */
function createClearing(db: Database, rowsMax: number) {
  const key = '(account, created_at, no)';
  const endOf = db
    .prepare<[number, ...HeldKey, number], HeldKey>(
      `SELECT account, created_at, no FROM held WHERE epoch = ? AND ${key} > (?, ?, ?) ORDER BY ${key.slice(1, -1)} LIMIT 1 OFFSET ?`,
    )
    .raw();
  const held = db
    .prepare<[number, ...HeldKey, ...HeldKey], number>(
      `DELETE FROM held WHERE epoch = ? AND ${key} > (?, ?, ?) AND ${key} <= (?, ?, ?)
         AND EXISTS (SELECT 1 FROM gone WHERE gone.no = held.no) RETURNING no`,
    )
    .pluck();
  const gone = BulkRows.deleting(db, 'gone', ['no']);
  let [epoch, after] = [0, BEFORE_ALL];
  return {
    get epoch() {
      return epoch;
    },
    clear(of: number): number {
      if (of !== epoch) [epoch, after] = [of, BEFORE_ALL];
      const end = endOf.get(epoch, ...after, rowsMax - 1);
      const cleared = held.all(epoch, ...after, ...(end ?? AFTER_ALL));
      for (const no of cleared) gone.add(no);
      gone.finish();
      after = end ?? BEFORE_ALL;
      return cleared.length;
    },
  };
}
