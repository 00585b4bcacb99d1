import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { BadUpdate } from '../ledger/bad-update.ts';
import { type Chunk, FILE_PARTITION } from '../ledger/pack/chunk.ts';
import { type ApplyRules, applyMessage } from './apply.ts';
import { Batch } from './batch.ts';
import { type Counts, copyCounts, noCounts } from './counts.ts';
import { type DirectorySettings, openForWriting } from './database.ts';
import { type DeadLetter, DeadLetters } from './dead-letters.ts';
import { type ForceOutcome, sealNow } from './force.ts';
import { letterOf, rawMessage } from './letter.ts';
import { newPartition, type PartitionState, preparePositions, type SavePositions } from './positions.ts';

export interface WriterOptions extends DirectorySettings {
  readonly onBadUpdate: 'halt' | 'quarantine';
  readonly recordTimeGapMaxUs: number;
  readonly recordTimeAheadMaxUs: number;
  /** Our clock, microseconds. */
  readonly now: () => number;
  /** Stores positions in the batch's transaction; `preparePositions` unless given. */
  readonly positions?: (db: Database) => SavePositions;
}

/** Where a topic is gone on from: what its positions belong to (null: no topic yet), and how far each partition is applied. */
export interface TopicPosition {
  readonly identity: string | null;
  readonly positions: ReadonlyMap<number, { readonly nextOffset: number; readonly sha256: Buffer | null }>;
}

/** Part of a chunk that is applied in memory and not yet on disk. */
interface Segment {
  readonly chunk: Chunk;
  readonly from: number;
  readonly to: number;
}

const NO_BYTES = new Uint8Array(0);

/** Whether the messages went in, or where they stopped. */
export type Applied =
  | { readonly done: true }
  | { readonly done: false; readonly halted: DeadLetter; readonly at: number };

/**
 * The only writer of views.db. Messages are applied in memory in feed order and written by `commit`; an update that cannot be
 * applied throws the batch away, which is then applied again up to it, so that the views stop at the same update whatever the
 * batch size (design.md section 7).
 */
export class ViewsWriter implements Disposable {
  readonly db: Database;
  readonly letters: DeadLetters;
  /** The migration of messages that carry none. */
  readonly sourceMigrationId: number;
  readonly #options: WriterOptions;
  readonly #periodUs: number;
  readonly #savePositions: SavePositions;
  #batch: Batch;
  #segments: Segment[] = [];
  #committed: Counts = noCounts();
  /** Where applying goes on in the newest chunk; lets `apply` be called again after a failed commit. */
  #cursor: { chunk: Chunk; at: number } | null = null;
  /** Set when a commit failed: the batch in memory is made anew before it is used again. */
  #broken = false;
  #source = '';
  #keepsHash = false;

  constructor(dataDir: string, options: WriterOptions) {
    this.#options = options;
    this.db = openForWriting(dataDir, options);
    this.#periodUs = this.db.prepare<[], number>('SELECT period FROM setting').pluck().get()!;
    this.letters = new DeadLetters(this.db);
    this.#savePositions = (options.positions ?? preparePositions)(this.db);
    this.#batch = new Batch(this.db, this.#committed, this.#savePositions);
    this.sourceMigrationId = options.migrationId ?? this.#batch.state.sourceMigrationId ?? 0;
  }

  /** The messages that follow are from here. `topic`: positions and hashes are kept; a file is always read from its start. */
  beginSource(source: string, { topic }: { topic: boolean }): void {
    this.commit();
    this.#source = source;
    this.#keepsHash = topic;
    if (topic) return;
    const { partitions } = this.#batch.state;
    const storedOffset = partitions.get(FILE_PARTITION)?.storedOffset ?? null;
    partitions.set(FILE_PARTITION, { ...newPartition(source, 1), storedOffset });
    this.commit();
  }

  get topicPosition(): TopicPosition {
    const { feed, partitions } = this.#batch.state;
    return {
      identity: feed,
      positions: new Map([...partitions].filter(([partition]) => partition !== FILE_PARTITION)),
    };
  }

  /**
   * What the topic's positions belong to, before its first message is applied. Synchronizers known by then come from files:
   * the topic must overlap with what they hold (PossibleGap).
   */
  followTopic(identity: string): void {
    this.commit();
    const { state } = this.#batch;
    if (state.feed === identity) return;
    if (state.feed !== null) throw new Error(`the views follow ${state.feed}, not ${identity}`);
    state.feed = identity;
    for (const migration of state.migrations.values()) {
      for (const last of migration.synchronizers.values()) Object.assign(last, { unseen: true, changed: true });
    }
    this.commit();
  }

  get pendingEvents(): number {
    return this.#batch.counts.events - this.#committed.events;
  }

  get hasPending(): boolean {
    return this.#segments.length > 0;
  }

  /** What was committed since the process started. */
  get counts(): Counts {
    return this.#committed;
  }

  get state(): Batch['state'] {
    return this.#batch.state;
  }

  /**
   * Applies the chunk's messages. Under `halt` it stops at a bad one, with everything before it on disk. Called again with
   * the same chunk, after an error of the disk or an ended halt, it goes on where it stopped.
   */
  apply(chunk: Chunk): Applied {
    if (this.#broken) this.#reapply(this.#segments);
    const end = chunk.updates.kind.length;
    let start = this.#cursor?.chunk === chunk ? this.#cursor.at : 0;
    while (start < end) {
      const fault = this.#applyRange(chunk, start, end);
      if (fault === null) break;
      this.#cursor = { chunk, at: start };
      const letter = letterOf(chunk, fault.at, fault.bad, { source: this.#source, now: this.#options.now() });
      const halts = this.#options.onBadUpdate === 'halt' || letter.kind === 'ahead' || letter.kind === 'overtaken';
      const id = this.#stopAt(chunk, start, fault.at, { ...letter, decision: halts ? 'halted' : 'quarantined' });
      if (halts) return { done: false, halted: { ...letter, id, decision: 'halted' }, at: fault.at };
      start = fault.at + 1;
      this.#cursor = { chunk, at: start };
    }
    this.#cursor = { chunk, at: end };
    return { done: true };
  }

  /** Applies messages in memory; returns the first that is bad. The batch is then unusable. */
  #applyRange(chunk: Chunk, from: number, to: number): { at: number; bad: BadUpdate } | null {
    const rules: ApplyRules = {
      periodUs: this.#periodUs,
      recordTimeGapMaxUs: this.#options.recordTimeGapMaxUs,
      recordTimeAheadMaxUs: this.#options.recordTimeAheadMaxUs,
      now: this.#options.now(),
    };
    const ends = chunk.updates.eventsEnd;
    this.#batch.fetch(chunk.events.fold.slice(from === 0 ? 0 : ends[from - 1]!, to === 0 ? 0 : ends[to - 1]!));
    for (let i = from; i < to; i++) {
      this.#partition(chunk.updates.partition[i]!);
      if (this.letters.anyDecided && this.letters.isDecided(sha256(rawMessage(chunk, i)))) {
        this.#batch.counts.decided += 1;
        continue;
      }
      try {
        applyMessage(this.#batch, chunk, i, rules);
      } catch (error) {
        if (error instanceof BadUpdate) return { at: i, bad: error };
        this.#broken = true;
        throw error;
      }
    }
    // The messages' bytes are most of a chunk; applying it again needs them only to look up decisions and for hashes.
    this.#segments.push({ chunk: this.keepsMessages ? chunk : { ...chunk, raw: NO_BYTES }, from, to });
    this.#moveOn(chunk, from, to);
    return null;
  }

  /** Whether the messages' bytes of an applied chunk are still needed until the commit. */
  get keepsMessages(): boolean {
    return this.#keepsHash || this.letters.anyDecided;
  }

  /** The position behind the messages of a range. */
  #moveOn(chunk: Chunk, from: number, to: number): void {
    const { partition, offset } = chunk.updates;
    const last = new Map<number, number>();
    for (let i = from; i < to; i++) last.set(partition[i]!, i);
    for (const [number, i] of last) {
      const state = this.#partition(number);
      state.nextOffset = offset[i]! + 1;
      if (this.#keepsHash) state.sha256 = sha256(rawMessage(chunk, i));
    }
  }

  #partition(number: number): PartitionState {
    let state = this.#batch.state.partitions.get(number);
    if (state === undefined) {
      state = newPartition(this.#source, 0);
      this.#batch.state.partitions.set(number, state);
    }
    return state;
  }

  /** Puts on disk what came before message `at`, and its dead letter, in one transaction. */
  #stopAt(chunk: Chunk, start: number, at: number, letter: Omit<DeadLetter, 'id'>): number {
    this.#reapply([...this.#segments, { chunk, from: start, to: at }]);
    this.#cursor = { chunk, at };
    if (letter.decision === 'quarantined') this.#moveOn(chunk, at, at + 1);
    let id = 0;
    this.commit(() => {
      id = this.letters.insert(letter);
    });
    return id;
  }

  /** Throws the batch away (a commit that failed leaves it half written) and applies these segments to what is on disk. */
  #reapply(segments: readonly Segment[]): void {
    this.#broken = true;
    this.#batch = new Batch(this.db, this.#committed, this.#savePositions);
    this.#segments = [];
    for (const { chunk, from, to } of segments) {
      if (from === to) continue;
      const fault = this.#applyRange(chunk, from, to);
      if (fault !== null)
        throw new Error('a batch that was applied before could not be applied again', { cause: fault.bad });
    }
    this.#broken = false;
  }

  /** One transaction: all that was applied, and the position behind it. */
  commit(also: () => void = () => {}): void {
    if (this.#broken) this.#reapply(this.#segments);
    this.#broken = true;
    this.#batch.commit(also);
    this.#broken = false;
    this.#segments = [];
    this.#committed = copyCounts(this.#batch.counts);
  }

  /** Seals a snapshot at the last applied record time, on disk before it is answered. */
  force({ maySeal }: { maySeal: boolean }): ForceOutcome {
    this.commit();
    const outcome = sealNow(this.db, this.#batch, { periodUs: this.#periodUs, maySeal });
    if (outcome.kind === 'snapshot' && outcome.sealed) this.#durably(() => this.commit());
    return outcome;
  }

  /** Decisions of people are on disk before they are answered; the feed cannot bring them back. */
  #durably(body: () => void): void {
    this.db.pragma('synchronous = FULL');
    try {
      body();
    } finally {
      this.db.pragma('synchronous = NORMAL');
    }
  }

  /** Remembers a halt that is not an update: a broken container. */
  halt(letter: Omit<DeadLetter, 'id' | 'decision'>): DeadLetter {
    const halted = { ...letter, decision: 'halted' as const };
    let id = 0;
    this.commit(() => {
      id = this.letters.insert(halted);
    });
    return { ...halted, id };
  }

  /** Ends a halt, durably; `move` names the partition whose position goes past the message. */
  resolve(letter: DeadLetter, decision: 'dropped' | 'applied' | 'resolved', { moveOn }: { moveOn: boolean }): void {
    if (moveOn) this.#partition(letter.partition).nextOffset = letter.offset + 1;
    if (moveOn && letter.sha256.length > 0) this.#partition(letter.partition).sha256 = letter.sha256;
    this.#durably(() => this.commit(() => this.letters.decide(letter.id, decision)));
  }

  [Symbol.dispose](): void {
    this.db.close();
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
