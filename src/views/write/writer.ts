import type { Database } from 'better-sqlite3';
import { type DecodedBatch, lengthOf, messageAt, messagesOf, sha256Of } from '../../feed/decoded-batch.ts';
import type { BrokenContainer, NamedSource, SourceStart, StoredSource } from '../../feed/source.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import type { Micros } from '../../ledger/time.ts';
import { Refusal } from '../../refusal.ts';
import { boundLog, type DirectorySettings, openForWriting } from '../store/database.ts';
import { type DeadLetter, DeadLetters } from '../store/dead-letter-store.ts';
import { type ApplyRules, applyMessage } from './apply.ts';
import { Batch, type BatchSizes } from './batch.ts';
import { ActiveIds, type OnActiveRead } from './contracts.ts';
import { containerDeadLetter, deadLetterOf, haltsAlways } from './dead-letter-of.ts';
import { movePast, newLane, type Position, positionsAfter, stateOf } from './positions.ts';
import { type ForceOutcome, type SealedRun, SNAPSHOTS_MAX, sealNow, sealPart } from './seals.ts';
import { checkSourceStart, forgetReplaced, isNews, noteSourceStart } from './source-start.ts';
import { type Counts, copyCounts, noCounts } from './state.ts';

export interface WriterOptions extends DirectorySettings, Partial<BatchSizes> {
  readonly onBadUpdate: 'halt' | 'quarantine';
  readonly recordTimeGapMaxUs: number;
  readonly recordTimeAheadMaxUs: number;
  readonly now: () => number;
  /** Called when the ids of all active contracts were read. */
  readonly onActiveRead?: OnActiveRead;
}

/** After a bad message the next may be near, and what is applied beyond it would be thrown away. Doubles while none is. */
const REACH_BEHIND_FAULT = 64;

/** Messages of a batch that are applied in memory and not yet on disk. */
interface AppliedRange {
  /** Its bytes are read only the first time that it is applied. */
  readonly batch: DecodedBatch;
  readonly from: number;
  readonly to: number;
  /** The clock reading it was checked with: applied again it must give the same result, even if the clock has jumped. */
  readonly now: Micros;
  /** The messages left out, because their bytes were dropped or quarantined before. */
  readonly decided: ReadonlySet<number>;
  /** After its messages; absent before it was applied. */
  positions?: ReadonlyMap<string, Position>;
}

/** A message that cannot be applied, or one that seals too many snapshots for one transaction: then the last run of them. */
type BadMessage = { readonly at: number; readonly bad: BadUpdate };
type LongGap = { readonly at: number; readonly gap: SealedRun };

const NO_BYTES = new Uint8Array(0);

/** Whether all messages were applied. `halted` is null where a part of a long gap was committed: call again with the batch. */
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
  readonly #active: ActiveIds;
  #batch: Batch;
  #applied: AppliedRange[] = [];
  #committed: Counts = noCounts();
  /** Where applying continues in the newest batch of messages, when `apply` is called again with it. */
  #continued: { batch: DecodedBatch; at: number } | null = null;
  /** Set when a commit failed: the batch in memory is rebuilt before it is used again. */
  #broken = false;
  #source: NamedSource | null = null;

  constructor(dataDir: string, options: WriterOptions) {
    this.options = options;
    this.db = openForWriting(dataDir, options);
    this.#periodUs = this.db.prepare<[], number>('SELECT period FROM setting').pluck().get()!;
    this.deadLetters = new DeadLetters(this.db);
    this.#active = new ActiveIds(this.db, options.onActiveRead);
    this.#batch = this.#newBatch();
    this.sourceMigrationId = options.migrationId ?? this.#batch.state.sourceMigrationId ?? 0;
  }

  /** Sets the source of the following messages. Of one that resumes, positions and hashes are kept. */
  beginSource(source: NamedSource): void {
    this.commit();
    this.#source = source;
    if (source.kind.resumes) return;
    const { lanes } = this.#batch.state;
    const [lane, begun] = [source.kind.kind, newLane(source.name, { start: null, resumeToken: '1' })];
    lanes.set(lane, { ...begun, storedToken: lanes.get(lane)?.storedToken ?? null });
    this.commit();
  }

  get directoryId(): string {
    return this.db.prepare<[], string>('SELECT directory_id FROM setting').pluck().get()!;
  }

  /** Where the source that resumes continues. */
  get storedSource(): StoredSource {
    const { feed, followed, lanes } = this.#batch.state;
    const stored = [...lanes].flatMap(([lane, { start, resumeToken, sha256 }]) =>
      start === null ? [] : [[lane, { start, resumeToken, sha256 }] as const],
    );
    return { identity: feed, ...(followed !== null && { followed: [...followed] }), lanes: new Map(stored) };
  }

  /** Stores what the source's resume tokens belong to and where its lanes begin, before its messages; first forgets what it replaces. */
  followSource(start: SourceStart): void {
    // What a failed commit noted is only in memory.
    if (!this.#broken && !isNews(this.#batch.state, start)) return;
    this.commit();
    const [{ name }, { state }] = [this.#begun, this.#batch];
    checkSourceStart(this.db, state, start, name);
    forgetReplaced(this.db, state, start, { source: name, active: this.#active });
    this.#reapply([]);
    noteSourceStart(this.#batch.state, start, name);
    this.commit();
  }

  get pendingEvents(): number {
    return this.#batch.counts.events - this.#committed.events;
  }

  get hasPending(): boolean {
    return this.#applied.length > 0;
  }

  /** Counts of what was committed since the process started. */
  get counts(): Counts {
    return this.#committed;
  }

  get state(): Batch['state'] {
    return this.#batch.state;
  }

  /**
   * Applies the batch's messages. Under `halt` it stops at a bad one, with everything before it on disk. Called again with
   * the same batch, after an error of the disk, an ended halt or a part of a gap, it continues where it stopped.
   */
  apply(batch: DecodedBatch): Applied {
    if (this.#broken) this.#reapply(this.#applied);
    const end = batch.length;
    let at = this.#continued?.batch === batch ? this.#continued.at : 0;
    for (let reach = end; at < end; ) {
      const range = this.#rangeOf(batch, { from: at, to: Math.min(end, at + reach) });
      this.#continued = { batch, at };
      const stop = this.#applyRange(range, SNAPSHOTS_MAX);
      const good = stop === null ? range : { ...range, to: stop.at };
      if (stop === null) this.#keep(good);
      else this.#reapply([...this.#applied, good]);
      at = good.to;
      this.#continued = { batch, at };
      reach = stop === null ? reach * 2 : REACH_BEHIND_FAULT;
      if (stop === null) continue;
      if ('gap' in stop) {
        sealPart(this.#batch, stop.gap);
        this.commit();
        return { done: false, halted: null };
      }
      const left = this.#stopAt(batch, stop, range.now);
      if (left.decision === 'halted') return { done: false, halted: left };
      at += 1;
      this.#continued = { batch, at };
    }
    return { done: true };
  }

  /** Applies messages in memory; returns the first that is bad or seals too many snapshots: the batch in memory is then unusable. */
  #applyRange(range: AppliedRange, snapshotsMax: number): BadMessage | LongGap | null {
    const { batch, from, to, now, decided } = range;
    if (from === to) return null;
    this.#broken = true;
    const rules: ApplyRules = { ...this.options, periodUs: this.#periodUs, now };
    const messages = messagesOf(batch, from, to);
    this.#batch.contracts.fetch(messages);
    for (let i = from; i < to; i++) {
      if (decided.has(i)) {
        this.#batch.counts.decided += 1;
        continue;
      }
      const message = messages[i - from]!;
      if (message.content.kind === 'bad') return { at: i, bad: BadUpdate.restore(message.content.fault) };
      try {
        applyMessage(this.#batch, message, batch.items, rules);
      } catch (error) {
        if (error instanceof BadUpdate) return { at: i, bad: error };
        if (error instanceof Refusal) this.#reapply([...this.#applied, { ...range, to: i }]);
        throw error;
      }
      const gap = this.#batch.seals.lastBeyond(snapshotsMax);
      if (gap !== null) return { at: i, gap };
    }
    const { lanes } = this.#batch.state;
    range.positions ??= positionsAfter(lanes, batch, range);
    movePast(lanes, range.positions);
    this.#broken = false;
    return null;
  }

  #rangeOf(batch: DecodedBatch, { from, to }: { from: number; to: number }): AppliedRange {
    const decided = new Set<number>();
    for (let i = from; this.deadLetters.anyDecided && i < to; i++) {
      const message = messageAt(batch, i);
      if (this.deadLetters.isDecided(lengthOf(message), () => sha256Of(batch, message))) decided.add(i);
    }
    return { batch, from, to, now: this.options.now(), decided };
  }

  /** Keeps what was applied for a commit that fails, without the messages' bytes, which are most of it. */
  #keep(range: AppliedRange): void {
    if (range.from < range.to) this.#applied.push({ ...range, batch: { ...range.batch, raw: NO_BYTES } });
  }

  get #begun(): NamedSource {
    if (this.#source === null) throw new Error('a message of a source that was not begun');
    return this.#source;
  }

  /** Commits what was applied and the dead letter of the message after it, in one transaction. */
  #stopAt(batch: DecodedBatch, { at, bad }: BadMessage, now: Micros): DeadLetter {
    const { deadLetters } = this;
    const deadLetter = deadLetterOf(batch, messageAt(batch, at), bad, { source: this.#begun, now, deadLetters });
    const halts = this.options.onBadUpdate === 'halt' || haltsAlways(deadLetter);
    const { lanes } = this.#batch.state;
    if (!halts) movePast(lanes, positionsAfter(lanes, batch, { from: at, to: at + 1 }));
    return this.#commitWith({ ...deadLetter, decision: halts ? 'halted' : 'quarantined' });
  }

  #commitWith(deadLetter: Omit<DeadLetter, 'id'>): DeadLetter {
    let id = 0;
    this.commit(() => {
      id = this.deadLetters.insert(deadLetter);
    });
    return { ...deadLetter, id };
  }

  #newBatch(): Batch {
    return new Batch(this.db, { active: this.#active, sizes: this.options, counts: this.#committed });
  }

  /** Throws the batch away and applies these ranges to what is on disk. Where that fails too, the ranges are unchanged. */
  #reapply(ranges: readonly AppliedRange[]): void {
    this.#broken = true;
    this.#batch = this.#newBatch();
    for (const range of ranges) {
      const fault = this.#applyRange(range, Infinity);
      if (fault !== null) throw new Error(`message ${fault.at} was applied before and could not be applied again`);
    }
    this.#applied = [];
    for (const range of ranges) this.#keep(range);
    this.#broken = false;
  }

  /** One transaction: all that was applied, and the position after it. */
  commit(also: () => void = () => {}): void {
    if (this.#broken) this.#reapply(this.#applied);
    this.#broken = true;
    boundLog(this.db);
    this.#batch.commit(also);
    this.#broken = false;
    this.#applied = [];
    this.#committed = copyCounts(this.#batch.counts);
  }

  /** Seals a snapshot at the last applied record time; on disk when it returns. */
  force({ maySeal }: { maySeal: boolean }): ForceOutcome {
    this.commit();
    const outcome = sealNow(this.db, this.#batch, this.#periodUs, maySeal);
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
   * Applies the halted message at its own position, ends the halt and moves the position after it, in one durable transaction; or
   * returns what is still wrong with it, with nothing changed. The batch has only that message.
   */
  retry(deadLetter: DeadLetter, batch: DecodedBatch): BadUpdate | null {
    this.commit();
    const range = this.#rangeOf(batch, { from: 0, to: 1 });
    const stop = this.#applyRange(range, Infinity);
    if (stop !== null) {
      this.#reapply([]);
      return 'bad' in stop ? stop.bad : null;
    }
    this.#keep(range);
    this.#durably(() => this.commit(() => this.deadLetters.decide(deadLetter, 'applied')));
    return null;
  }

  /** Ends a halt, durably; `moveOn`: the position of its lane goes past the message, or past a batch that has none to compare. */
  resolve(deadLetter: DeadLetter, decision: 'dropped' | 'resolved', { moveOn }: { moveOn: boolean }): void {
    this.commit();
    if (moveOn && deadLetter.resumeToken !== null) {
      const position = stateOf(this.#batch.state.lanes, deadLetter.lane);
      position.resumeToken = deadLetter.resumeToken;
      if (position.start !== null) position.sha256 = deadLetter.kind === 'container' ? null : deadLetter.sha256;
    }
    this.#durably(() => this.commit(() => this.deadLetters.decide(deadLetter, decision)));
  }

  [Symbol.dispose](): void {
    this.db.close();
  }
}
