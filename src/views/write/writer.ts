import type { Database } from 'better-sqlite3';
import { type Chunk, idHashesOf, messageCount } from '../../chunk/chunk.ts';
import { UpdateCursor } from '../../chunk/update-cursor.ts';
import type { BrokenContainer, NamedSource, SourceStart, StoredSource } from '../../feed/source.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import type { Micros } from '../../ledger/time.ts';
import { Refusal } from '../../refusal.ts';
import { boundLog, type DirectorySettings, openForWriting } from '../store/database.ts';
import { type DeadLetter, DeadLetters } from '../store/dead-letter-store.ts';
import { ActiveIds, type ActiveRead } from './active-ids.ts';
import { type ApplyRules, applyMessage } from './apply.ts';
import { Batch, type LastingParts } from './batch.ts';
import { type Counts, copyCounts, noCounts } from './counts.ts';
import { containerDeadLetter, deadLetterOf, HALTS_ALWAYS } from './dead-letter-of.ts';
import { checkFollowed } from './followed.ts';
import { type ForceOutcome, sealNow } from './force.ts';
import { forgetHalfSeed } from './half-seed.ts';
import { type BadMessage, decidedIn, firstKnownBad } from './known-bad.ts';
import { beginLane, movePast, preparePositions, type SavePositions, stateOf, storedSourceOf } from './positions.ts';
import { type LongGap, SNAPSHOTS_MAX, sealPart } from './seal.ts';
import { type Segment, withoutMessageBytes } from './segment.ts';
import { checkSourceStart, forgetPositions, isAnother, isNews, noteSourceStart } from './source-start.ts';

export interface WriterOptions extends DirectorySettings {
  readonly onBadUpdate: 'halt' | 'quarantine';
  readonly recordTimeGapMaxUs: number;
  readonly recordTimeAheadMaxUs: number;
  /** Our clock, microseconds. */
  readonly now: () => number;
  /** Called when the ids of all active contracts were read. */
  readonly onActiveRead?: (read: ActiveRead) => void;
  /** Stores positions in the batch's transaction; `preparePositions` unless given. */
  readonly positions?: (db: Database) => SavePositions;
}

/** After a bad message the next may be near, and what is applied beyond it would be thrown away. Doubles while none is. */
const REACH_BEHIND_FAULT = 64;

/** Whether all messages were applied. `halted` is null where a part of a long gap was committed: call again with the chunk. */
export type Applied = { readonly done: true } | { readonly done: false; readonly halted: DeadLetter | null };

/**
 * The only writer of views.db. Messages are applied in memory in feed order and written by `commit`; an update that cannot be
 * applied throws the batch away, which is then applied again up to it, so that the views stop at the same update whatever the
 * batch size (docs/rules.md, bad updates).
 */
export class ViewsWriter implements Disposable {
  readonly db: Database;
  readonly deadLetters: DeadLetters;
  /** The migration of messages that name none. */
  readonly sourceMigrationId: number;
  readonly options: WriterOptions;
  readonly #periodUs: number;
  readonly #lasting: LastingParts;
  #batch: Batch;
  #segments: Segment[] = [];
  #committed: Counts = noCounts();
  /** Where applying continues in the newest chunk, when `apply` is called again after a failed commit. */
  #cursor: { chunk: Chunk; at: number } | null = null;
  /** Set when a commit failed: the batch in memory is rebuilt before it is used again. */
  #broken = false;
  #source: NamedSource | null = null;

  constructor(dataDir: string, options: WriterOptions) {
    this.options = options;
    this.db = openForWriting(dataDir, options);
    this.#periodUs = this.db.prepare<[], number>('SELECT period FROM setting').pluck().get()!;
    this.deadLetters = new DeadLetters(this.db);
    const savePositions = (options.positions ?? preparePositions)(this.db);
    this.#lasting = { savePositions, active: new ActiveIds(this.db, options.onActiveRead) };
    this.#batch = new Batch(this.db, this.#lasting, this.#committed);
    this.sourceMigrationId = options.migrationId ?? this.#batch.state.sourceMigrationId ?? 0;
  }

  /** Sets the source of the following messages. Of one that resumes, positions and hashes are kept. */
  beginSource(source: NamedSource): void {
    this.commit();
    this.#source = source;
    if (source.kind.resumes) return;
    beginLane(this.#batch.state.lanes, source);
    this.commit();
  }

  get directoryId(): string {
    return this.db.prepare<[], string>('SELECT directory_id FROM setting').pluck().get()!;
  }

  /** Where the source that resumes continues. */
  get storedSource(): StoredSource {
    return storedSourceOf(this.#batch.state);
  }

  /** Stores what the source's cursors belong to and where its lanes begin, before its messages; first forgets what it replaces. */
  followSource(start: SourceStart): void {
    // What a failed commit noted is only in memory.
    if (!this.#broken && !isNews(this.#batch.state, start)) return;
    this.commit();
    const [{ name }, { state }] = [this.#begun, this.#batch];
    checkSourceStart(state, start, name);
    checkFollowed(this.db, state, { start, source: name });
    if (start.anew === true) forgetHalfSeed(this.db, state, { source: name, active: this.#lasting.active });
    else if (isAnother(state, start)) forgetPositions(this.db);
    this.#reapply([]);
    noteSourceStart(this.#batch.state, start, name);
    this.commit();
  }

  get pendingEvents(): number {
    return this.#batch.counts.events - this.#committed.events;
  }

  get hasPending(): boolean {
    return this.#segments.length > 0;
  }

  /** Counts of what was committed since the process started. */
  get counts(): Counts {
    return this.#committed;
  }

  get state(): Batch['state'] {
    return this.#batch.state;
  }

  /**
   * Applies the chunk's messages. Under `halt` it stops at a bad one, with everything before it on disk. Called again with
   * the same chunk, after an error of the disk, an ended halt or a part of a gap, it continues where it stopped.
   */
  apply(chunk: Chunk): Applied {
    if (this.#broken) this.#reapply(this.#segments);
    const end = messageCount(chunk);
    let start = this.#cursor?.chunk === chunk ? this.#cursor.at : 0;
    for (let reach = end; start < end; ) {
      const now = this.options.now();
      const known = firstKnownBad(chunk, { from: start, to: Math.min(end, start + reach) }, this.deadLetters);
      const range = this.#segment(chunk, { from: start, to: known?.at ?? Math.min(end, start + reach), now });
      this.#cursor = { chunk, at: start };
      const stopped = this.#applyRange(range, SNAPSHOTS_MAX);
      if (stopped === null) this.#segments.push(this.#kept(range));
      else this.#reapply([...this.#segments, { ...range, to: stopped.at }]);
      const stop = stopped ?? known;
      start = stop?.at ?? range.to;
      this.#cursor = { chunk, at: start };
      if (stop !== null && 'gap' in stop) {
        sealPart(this.#batch, stop.gap);
        this.commit();
        return { done: false, halted: null };
      }
      reach = stopped === null ? reach * 2 : REACH_BEHIND_FAULT;
      if (stop === null) continue;
      const left = this.#stopAt(chunk, stop, now);
      if (left.decision === 'halted') return { done: false, halted: left };
      start += 1;
      this.#cursor = { chunk, at: start };
    }
    return { done: true };
  }

  /** Applies messages in memory; returns the first that is bad or seals too many snapshots. The batch is then unusable. */
  #applyRange(segment: Segment): BadMessage | null;
  #applyRange(segment: Segment, snapshotsMax: number): BadMessage | LongGap | null;
  #applyRange(segment: Segment, snapshotsMax = Infinity): BadMessage | LongGap | null {
    const { chunk, from, to, now, decided } = segment;
    if (from === to) return null;
    this.#broken = true;
    const rules: ApplyRules = { ...this.options, periodUs: this.#periodUs, now };
    this.#batch.fetch(idHashesOf(chunk, from, to));
    const message = new UpdateCursor(chunk);
    for (let i = from; i < to; i++) {
      if (decided.has(i)) {
        this.#batch.counts.decided += 1;
        continue;
      }
      try {
        applyMessage(this.#batch, message.moveTo(i), rules);
      } catch (error) {
        if (error instanceof BadUpdate) return { at: i, bad: error };
        if (error instanceof Refusal) this.#reapply([...this.#segments, { ...segment, to: i }]);
        throw error;
      }
      const gap = this.#batch.seals.lastBeyond(snapshotsMax);
      if (gap !== null) return { at: i, gap };
    }
    movePast(this.#batch.state.lanes, segment);
    this.#broken = false;
    return null;
  }

  #segment(chunk: Chunk, range: Pick<Segment, 'from' | 'to' | 'now'>): Segment {
    return { chunk, ...range, decided: decidedIn(chunk, range, this.deadLetters) };
  }

  #kept(segment: Segment): Segment {
    return withoutMessageBytes(segment, { keepsHash: this.#begun.kind.resumes });
  }

  get #begun(): NamedSource {
    if (this.#source === null) throw new Error('a message of a source that was not begun');
    return this.#source;
  }

  /** Commits what was applied and the dead letter of the message after it, in one transaction. */
  #stopAt(chunk: Chunk, { at, bad }: BadMessage, now: Micros): DeadLetter {
    const leftOut = (contractId: string): number | null => this.deadLetters.leftOut(contractId);
    const deadLetter = deadLetterOf(new UpdateCursor(chunk, at), bad, { source: this.#begun, now, leftOut });
    const halts = this.options.onBadUpdate === 'halt' || HALTS_ALWAYS.has(deadLetter.kind);
    if (!halts) movePast(this.#batch.state.lanes, { chunk, from: at, to: at + 1 });
    return this.#commitWith({ ...deadLetter, decision: halts ? 'halted' : 'quarantined' });
  }

  /** One transaction: all that was applied, and a dead letter after it. */
  #commitWith(deadLetter: Omit<DeadLetter, 'id'>): DeadLetter {
    let id = 0;
    this.commit(() => {
      id = this.deadLetters.insert(deadLetter);
    });
    return { ...deadLetter, id };
  }

  /** Throws the batch away and applies these segments to what is on disk. Where that fails too, the segments are unchanged. */
  #reapply(segments: readonly Segment[]): void {
    this.#broken = true;
    this.#batch = new Batch(this.db, this.#lasting, this.#committed);
    for (const segment of segments) {
      const fault = this.#applyRange(segment);
      if (fault !== null)
        throw new Error('a batch that was applied before could not be applied again', { cause: fault.bad });
    }
    this.#segments = segments.map((segment) => this.#kept(segment));
    this.#broken = false;
  }

  /** One transaction: all that was applied, and the position after it. */
  commit(also: () => void = () => {}): void {
    if (this.#broken) this.#reapply(this.#segments);
    this.#broken = true;
    boundLog(this.db);
    this.#batch.commit(also);
    this.#broken = false;
    this.#segments = [];
    this.#committed = copyCounts(this.#batch.counts);
  }

  /** Seals a snapshot at the last applied record time; on disk when it returns. */
  force({ maySeal }: { maySeal: boolean }): ForceOutcome {
    this.commit();
    const outcome = sealNow(this.db, this.#batch, { periodUs: this.#periodUs, maySeal });
    if (outcome.kind === 'snapshot' && outcome.sealed) this.#durably(() => this.commit());
    return outcome;
  }

  /** An operator's decision is on disk before it is answered, because the feed cannot bring it back. */
  #durably(body: () => void): void {
    this.db.pragma('synchronous = FULL');
    try {
      body();
    } finally {
      this.db.pragma('synchronous = NORMAL');
    }
  }

  /** Remembers a halt that is not an update: a broken container. */
  halt(broken: BrokenContainer): DeadLetter {
    const about = { source: this.#begun, now: this.options.now() };
    return this.#commitWith({ ...containerDeadLetter(broken, about), decision: 'halted' });
  }

  /**
   * Applies the halted message at its own place, ends the halt and moves the position after it, in one durable transaction; or
   * returns what is still wrong with it, with nothing changed. The chunk has only that message.
   */
  retry(deadLetter: DeadLetter, chunk: Chunk): BadUpdate | null {
    this.commit();
    const segment = this.#segment(chunk, { from: 0, to: 1, now: this.options.now() });
    const fault = this.#applyRange(segment);
    if (fault !== null) {
      this.#reapply([]);
      return fault.bad;
    }
    this.#segments = [segment];
    this.#durably(() => this.commit(() => this.deadLetters.decide(deadLetter, 'applied')));
    return null;
  }

  /** Ends a halt, durably; `moveOn`: the position of its lane goes past the message, or past a batch that has none to compare. */
  resolve(deadLetter: DeadLetter, decision: 'dropped' | 'resolved', { moveOn }: { moveOn: boolean }): void {
    this.commit();
    if (moveOn && deadLetter.cursor !== null) {
      const position = stateOf(this.#batch.state.lanes, deadLetter.lane);
      position.cursor = deadLetter.cursor;
      if (position.start !== null) position.sha256 = deadLetter.kind === 'container' ? null : deadLetter.sha256;
    }
    this.#durably(() => this.commit(() => this.deadLetters.decide(deadLetter, decision)));
  }

  [Symbol.dispose](): void {
    this.db.close();
  }
}
