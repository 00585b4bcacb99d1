import type { DecodedMessage, UpdateContent } from '../../feed/decoded-batch.ts';
import type { ArchivedContract, ContractEvent, NewCoin, UncountedCreate } from '../../feed/event-columns.ts';
import { getOrMake } from '../../get-or-make.ts';
import { BadUpdate, type FaultCode } from '../../ledger/bad-update.ts';
import { type ClockRules, checkClock, formatTime, type Micros } from '../../ledger/time.ts';
import { type Checkpoint, fieldNameIn, type ImportMarker, TOKEN_AGAIN } from '../../ledger/update.ts';
import { type Applying, applyEvents, isActive, isFollowed, isHolding, isOfTemplate, isOurs } from './apply-events.ts';
import type { Batch } from './batch.ts';
import { isPending, type PendingCoin, type StoredCoin } from './contracts.ts';
import { differenceOf, hasEffect } from './ledger-updates.ts';
import { checkpointKey, IMPORT_TIME, isLate, type LaneState, noteFurthest, stateOf } from './positions.ts';
import { gridAfter, isSealed, sealGrid } from './seals.ts';
import {
  gapAfterFiles,
  isUnproven,
  isUnseen,
  type PossibleGap,
  requireNoGapBefore,
  requireOverlap,
  requireSourceMigration,
} from './source-start.ts';
import {
  addIgnored,
  type Counts,
  type MigrationState,
  newMigration,
  newSynchronizer,
  UNFINISHED_IMPORT,
} from './state.ts';

export interface ApplyRules extends ClockRules {
  readonly periodUs: number;
  /** The migration of messages that name none, where an operator gave it. */
  readonly migrationId: number | null;
  /** Whether holdings of tokens count in a new directory; by default they do. */
  readonly tokens?: 'on' | 'off' | null;
}

/** Applies a decodable message to the batch in memory; `items`: the digest items of its batch of messages. Throws BadUpdate; the batch must then be thrown away. */
export function applyMessage(
  batch: Batch,
  { lane: name, content }: DecodedMessage,
  items: Uint8Array,
  rules: ApplyRules,
): void {
  if (content.kind === 'bad') throw new Error('an undecodable message is not applied');
  if (content.kind === 'ignored') return addIgnored(batch.counts, content.what);
  const { state } = batch;
  const lane = stateOf(state.lanes, name);
  if (state.feed !== null) requireOverlap(state, lane, content);
  if (content.kind === 'import marker') return applyImportMarker(batch, content, lane, rules);
  const { migrationId } = content;
  if (content.kind === 'checkpoint' || content.format === 'ledger-api') {
    const known = { given: rules.migrationId, stored: state.sourceMigrationId, migrations: state.migrations.keys() };
    requireSourceMigration('the feed', known);
  }
  if (content.kind === 'checkpoint') return applyCheckpoint(batch, content, lane, rules);
  if (content.format === 'ledger-api') state.sourceMigrationId ??= migrationId;
  state.tokens ??= mayHaveTokens(content, rules);
  const migration = getOrMake(state.migrations, migrationId, newMigration);
  applyTimed({ batch, migration, update: content, items, lane }, rules);
}

/** Whether a directory that begins with an update has tokens; null where that is still open. After updates of a Scan not all can be known. */
function mayHaveTokens({ format, events, recordTime }: UpdateContent, { tokens = null }: ApplyRules): boolean | null {
  if (tokens !== null) return tokens === 'on';
  if (format === 'ledger-api' || events.some(isHolding)) return true;
  return recordTime === null ? null : false;
}

function applyTimed(applying: Applying, rules: ApplyRules): void {
  const { batch, update, lane } = applying;
  const { migrationId, recordTime } = update;
  const time = { migrationId, recordTime: recordTime ?? IMPORT_TIME };
  const late = isLate(batch.state.lanes, lane, time);
  if (recordTime !== null) applyUpdate(applying, recordTime, late, rules);
  else if (!applyImport(applying, late)) return;
  noteFurthest(lane, time);
}

function applyUpdate(applying: Applying, recordTime: Micros, late: boolean, rules: ApplyRules): void {
  const { batch, update, migration } = applying;
  const { synchronizerId, updateId } = update;
  const isCovered = isCoveredByImport(migration, update, recordTime);
  if (isCovered || isRedelivered(applying, recordTime)) {
    requireApplied(applying, recordTime, isCovered);
    batch.counts.redelivered += 1;
    return;
  }
  if (late && isSealed(migration, recordTime, rules.periodUs)) {
    const expected = 'a time after the last snapshot: its lane was idle, and the others went on without it';
    throw badTime('overtaken', update, recordTime, expected);
  }
  const { timeReached } = migration;
  checkClock(recordTime, rules, { timeReached, field: update.format === 'scan' ? 'record_time' : 'recordTime' });
  sealGrid(batch.seals, migration, { end: recordTime, inclusive: false, periodUs: rules.periodUs });
  applyEvents(applying);
  if (update.eventLogs.length > 0) batch.legs.apply(update);
  migration.nextGrid ??= gridAfter(recordTime, rules.periodUs);
  migration.timeReached = Math.max(timeReached ?? recordTime, recordTime);
  migration.updateTime = Math.max(migration.updateTime ?? recordTime, recordTime);
  const last = getOrMake(migration.synchronizers, synchronizerId, () =>
    newSynchronizer(batch.state.nextSynchronizer++, recordTime),
  );
  const countedAt = Math.max(migration.timeReached, (migration.sealedAt ?? -1) + 1);
  const time = { recordTime, countedAt: countedAt === recordTime ? null : countedAt };
  batch.updates.end(migration, { synchronizer: last.no, updateId, ...time });
  if (recordTime !== last.recordTime) {
    last.newIds.clear();
    last.storedIds = 0;
  } else if (last.newIds.size + last.storedIds > 0) last.repairs += 1;
  last.newIds.add(updateId);
  last.recordTime = recordTime;
  last.changed = true;
}

/**
 * Whether its synchronizer has the update already (docs/rules.md, rule 1). Notes that a source after files, by showing one, reaches
 * back to their end. Throws BadUpdate for one that is out of order, PossibleGap where others may be missing before it.
 */
function isRedelivered({ batch, migration, update, lane }: Applying, recordTime: Micros): boolean {
  const { state, lastUpdates } = batch;
  const { synchronizerId, updateId } = update;
  if (lane.start !== null && isUnproven(state, migration)) throw afterImport(migration, lane, recordTime);
  const last = migration.synchronizers.get(synchronizerId);
  if (last === undefined && lane.start !== null && isUnseen(migration))
    throw gapAfterFiles(`have nothing of synchronizer ${synchronizerId}`, lane.source, recordTime);
  const isOfLastTime = recordTime === last?.recordTime;
  const isApplied =
    last !== undefined &&
    (recordTime < last.recordTime || (isOfLastTime && lastUpdates.has(migration, synchronizerId, updateId)));
  if (isOfLastTime && !isApplied && update.format === 'scan') {
    const other = lastUpdates.any(migration, synchronizerId);
    const expected = `a time after ${formatTime(recordTime)}, that of update ${other} of this synchronizer`;
    throw badTime('disorder', update, recordTime, expected);
  }
  if (last?.unseen === true && lane.start !== null) {
    const files = `end at ${formatTime(last.recordTime)} for synchronizer ${synchronizerId}`;
    if (!isApplied) throw gapAfterFiles(files, lane.source, recordTime);
    last.unseen = false;
    last.changed = true;
  }
  if (last !== undefined && recordTime < last.firstTime) {
    const expected = `a time from ${formatTime(last.firstTime)} on, that of the first update known of this synchronizer`;
    throw badTime('before_first', update, recordTime, expected);
  }
  if (isApplied) return true;
  const { size } = lane.checkpoints;
  const checkpoint = size > 0 ? lane.checkpoints.get(checkpointKey(migration.migrationId, synchronizerId)) : undefined;
  if (checkpoint !== undefined && recordTime < checkpoint && !isOfLastTime) {
    const expected = `a time from ${formatTime(checkpoint)} on, the checkpoint read before it for this synchronizer`;
    throw badTime('disorder', update, recordTime, expected);
  }
  return false;
}

/**
 * Imports open a migration; they do not move time, and rule 1 does not apply to them (docs/rules.md, rule 5). False for one that may
 * never have been applied: it shows nothing of the migration.
 */
function applyImport(applying: Applying, late: boolean): boolean {
  const { batch, update, migration } = applying;
  if (late && !update.events.every((event) => isKnown(applying, event))) {
    const expected = 'no import: its lane was idle, and the others went on without it';
    throw new BadUpdate('overtaken', fieldNameIn(update.format, 'record_time'), 'an import', expected);
  }
  if (migration.timeReached !== null) {
    const isKnown = !isJudged(applying) || isKnownImport(applying);
    batch.counts.importsLate += 1;
    return isKnown;
  }
  if (update.seed !== undefined) migration.importedAt = UNFINISHED_IMPORT;
  const repeated = ({ createsRepeated, ignored }: Counts): number => createsRepeated + (ignored[TOKEN_AGAIN] ?? 0);
  const [events, before] = [batch.counts.events, repeated(batch.counts)];
  applyEvents(applying);
  batch.updates.end(migration, null);
  const creates = batch.counts.events - events;
  if (creates === 0 || repeated(batch.counts) - before < creates) return true;
  batch.counts.updates -= 1;
  batch.counts.redelivered += 1;
  return true;
}

/**
 * A checkpoint counts as the smallest of its times. Before the migration's first update or before the time reached it does
 * not move time; its time for each synchronizer is still remembered (docs/rules.md, rule 4).
 */
function applyCheckpoint(batch: Batch, checkpoint: Checkpoint, lane: LaneState, rules: ApplyRules): void {
  batch.counts.checkpoints += 1;
  if (checkpoint.times.length === 0) return;
  const known = batch.state.migrations.get(checkpoint.migrationId);
  const time = checkpoint.times.reduce((least, each) => Math.min(least, each.recordTime), Infinity);
  const compared = { timeReached: known?.timeReached ?? null, field: 'synchronizerTimes[].recordTime' };
  for (const each of checkpoint.times) checkClock(each.recordTime, rules, compared);
  for (const { synchronizerId, recordTime } of checkpoint.times) {
    const key = checkpointKey(checkpoint.migrationId, synchronizerId);
    lane.checkpoints.set(key, Math.max(lane.checkpoints.get(key) ?? recordTime, recordTime));
  }
  const isBefore = known === undefined || known.timeReached === null || time < known.timeReached;
  const isBeyondImport =
    !isBefore && time > known.timeReached! && lane.start !== null && isUnproven(batch.state, known);
  if (!isBeyondImport) noteFurthest(lane, { migrationId: checkpoint.migrationId, recordTime: time });
  if (isBefore || isBeyondImport || (lane.start !== null && isAheadOfUnseen(known, checkpoint))) {
    batch.counts.checkpointsBehind += 1;
    return;
  }
  sealGrid(batch.seals, known, { end: time, inclusive: true, periodUs: rules.periodUs });
  known.timeReached = time;
}

/**
 * Whether it names a synchronizer whose last update from the files has not yet come from the source after them, or none has:
 * until then it is not known that the source begins before the files end, and its checkpoint must not seal a snapshot.
 */
function isAheadOfUnseen(migration: MigrationState, { times }: Checkpoint): boolean {
  const isAhead = times.some(({ synchronizerId, recordTime }) => {
    const last = migration.synchronizers.get(synchronizerId);
    return last?.unseen === true && recordTime > last.recordTime;
  });
  return isAhead || isUnseen(migration);
}

/**
 * The end of a snapshot import, and the one checkpoint that opens a migration (docs/rules.md, rule 13). A migration that has begun needs
 * none: as an import, it is skipped, where all that it has was read.
 */
function applyImportMarker(batch: Batch, mark: ImportMarker, lane: LaneState, rules: ApplyRules): void {
  const { migrationId, recordTime } = mark;
  const migration = getOrMake(batch.state.migrations, migrationId, newMigration);
  const { importedAt } = migration;
  if (importedAt !== null && recordTime > importedAt && lane.start !== null && isUnproven(batch.state, migration))
    throw afterImport(migration, lane, recordTime);
  if (lane.start !== null) requireNoGapBefore(mark, migration, [...batch.state.lanes.values()], lane.source);
  noteFurthest(lane, { migrationId, recordTime });
  if (migration.timeReached !== null) {
    batch.counts.importsLate += 1;
    return;
  }
  checkClock(recordTime, rules, { timeReached: null, field: 'seed.record_time' });
  migration.importedAt = recordTime;
  migration.importTimes = Object.fromEntries(mark.times.map((each) => [each.synchronizerId, each.recordTime]));
  migration.importOffset = mark.offset;
  // What follows has no migration id.
  if (mark.offset !== null) batch.state.sourceMigrationId ??= migrationId;
  migration.timeReached = recordTime;
  migration.nextGrid = gridAfter(recordTime - 1, rules.periodUs);
  sealGrid(batch.seals, migration, { end: recordTime, inclusive: true, periodUs: rules.periodUs });
  batch.counts.checkpoints += 1;
}

function afterImport({ importedAt }: MigrationState, { source }: LaneState, first: Micros): PossibleGap {
  return gapAfterFiles(`end with a snapshot import of ${formatTime(importedAt!)}`, source, first);
}

/** Whether a snapshot import has the update already. Throws BadUpdate for one behind a snapshot import that is not whole. */
function isCoveredByImport(migration: MigrationState, update: UpdateContent, recordTime: Micros): boolean {
  const { importedAt, importTimes, importOffset } = migration;
  if (importedAt === null) return false;
  if (importedAt === UNFINISHED_IMPORT) {
    const expected = 'the marker of the snapshot import before it, which alone shows that it is whole';
    throw badTime('half_seed', update, recordTime, expected);
  }
  // Repairs have equal times before and behind an import: only the offset distinguishes them.
  if (importOffset === null || update.format !== 'ledger-api')
    return recordTime <= (importTimes[update.synchronizerId] ?? importedAt);
  const { offset = null } = update;
  if (offset !== null) return offset <= importOffset;
  throw new BadUpdate(
    'bad_field',
    'offset',
    'none',
    'a whole number of 0 or more, as behind a snapshot import of a participant',
  );
}

function badTime(code: FaultCode, update: UpdateContent, recordTime: Micros, expected: string): BadUpdate {
  return new BadUpdate(code, fieldNameIn(update.format, 'record_time'), formatTime(recordTime), expected);
}

/**
 * Throws BadUpdate where an update that is to be skipped as a redelivery was never applied, or had other effects
 * (docs/rules.md, rule 1). Of updates that a snapshot import covers, and of those from before `ledger_update` was kept, nothing is known:
 * they may not archive a coin or round that is active.
 */
function requireApplied(applying: Applying, recordTime: Micros, isCovered: boolean): void {
  const { batch, update, migration, items } = applying;
  const { updateId, synchronizerId, format } = update;
  const { movementsSince } = migration;
  const synchronizer = migration.synchronizers.get(synchronizerId)?.no ?? 0;
  const effects = batch.updates.effectsOf({ synchronizer, recordTime, updateId });
  const isKept = effects !== null || (!isCovered && (movementsSince === null || recordTime >= movementsSince));
  const skipped = `the update is skipped as a redelivery, because its record time ${formatTime(recordTime)} has passed, and`;
  const holding = batch.state.tokens === true && isKept && effects === null && update.events.find(isHolding);
  if (holding) {
    const expected = `a holding that the update had when it was applied: ${skipped} it had none`;
    throw new BadUpdate('disorder', fieldNameIn(format, 'contract_id'), holding.contractId, expected);
  }
  if (isKept) {
    const counts = (event: NewCoin | UncountedCreate): boolean => isOurs(batch, event) && isFollowed(batch, event);
    const difference = differenceOf(update, { items, effects: effects ?? new Set(), counts });
    const field = fieldNameIn(format, difference === 'lacks' ? 'update_id' : 'contract_id');
    if (difference === 'lacks') {
      const expected = `all changes of coins that it had when it was applied: ${skipped} one of them is missing`;
      throw new BadUpdate('disorder', field, updateId, expected);
    }
    if (difference !== null) {
      const expected = `a coin that the update had when it was applied: ${skipped} it did not have this one`;
      throw new BadUpdate('disorder', field, difference.event.contractId, expected);
    }
  }
  for (const event of update.events) {
    if (event.kind !== 'archive' || hasEffect(effects, event, items)) continue;
    // Of an update that is known, holdings are not compared.
    if (event.item < 0 && effects !== null) continue;
    if (!isStillActive(applying, event, isKept ? null : recordTime)) continue;
    // Created here too: it only passes through, or comes again.
    if (update.events.some(({ kind, contractId }) => kind !== 'archive' && contractId === event.contractId)) continue;
    const expected = `the id of a contract that is not active: ${skipped} it archives a contract that is active, so it was never applied`;
    throw new BadUpdate('disorder', fieldNameIn(format, 'contract_id'), event.contractId, expected);
  }
}

/** Whether the contract that an archive names is active. `recordTime`: and may not have been created again after it. */
function isStillActive({ batch, migration }: Applying, archive: ArchivedContract, recordTime: Micros | null): boolean {
  const { migrationId } = migration;
  const { entity } = archive;
  const coin = batch.contracts.find(archive, migrationId);
  if (coin !== undefined) {
    // A contract of another template is another one with the same id.
    return (
      isOfTemplate(archive, coin) &&
      (recordTime === null || !isCreatedAfter(batch, migration, { coin, archive, recordTime }))
    );
  }
  return (entity === null || entity === 'OpenMiningRound') && batch.rounds.find(archive, migrationId) !== undefined;
}

/**
 * Whether a coin that is active was created after an archive of its id at that record time. No record time is stored with a coin, so
 * its interval decides; within the interval of the archive, its own time of creation, the updates at the last record time, and
 * whether a contract of that id was archived there, as before a repair that imports it again. Times of several synchronizers
 * cannot be compared.
 */
function isCreatedAfter(
  { contracts, seals, updates, lastUpdates }: Batch,
  migration: MigrationState,
  { coin, archive, recordTime }: { coin: PendingCoin | StoredCoin; archive: ArchivedContract; recordTime: Micros },
): boolean {
  const { createdSeq, owner } = coin;
  const { migrationId, synchronizers } = migration;
  const ended = seals.endOf(migrationId, createdSeq);
  if (ended !== null && ended < recordTime) return false;
  const begun = seals.endOf(migrationId, createdSeq - 1);
  if (begun !== null && begun >= recordTime) return true;
  const concurrent = [...synchronizers.values()].filter((each) => begun === null || each.recordTime > begun);
  if (concurrent.length > 1 || (isPending(coin) ? coin.create : coin).createdAt > recordTime) return true;
  const creator = contracts.creatorOf(coin);
  const id = typeof creator === 'number' ? updates.idOf(creator) : creator;
  if (id !== null && [...synchronizers.keys()].some((each) => lastUpdates.has(migration, each, id))) return true;
  return contracts.wasArchived(archive, owner, createdSeq);
}

/**
 * Whether a late import must be known. What a migration's own snapshot import leaves out is not known; that of a source that resumes
 * is judged by its marker. Where not all is known that was archived, the first ones of a lane are judged: until it has shown what is.
 */
function isJudged({ migration, update, lane: { furthest, start } }: Applying): boolean {
  if (migration.importedAt !== null || (update.seed !== undefined && start !== null)) return false;
  return migration.movementsSince === null || furthest === null || furthest.migrationId < migration.migrationId;
}

/**
 * Whether the contracts of an import that comes after its migration has begun are known: active, or archived. False where one may be
 * that was archived before this directory kept what shows it. Throws BadUpdate where one was never applied.
 */
function isKnownImport(applying: Applying): boolean {
  const { batch, migration, update } = applying;
  let areKnown = true;
  for (const event of update.events) {
    if (isKnown(applying, event)) continue;
    // Of holdings of tokens nothing is judged: their views may have been others.
    if (event.kind === 'archive' || isHolding(event) || !isOurs(batch, event)) continue;
    if (event.kind === 'OpenMiningRound' || !isFollowed(batch, event)) continue;
    // Of a snapshot import one may have been created and archived in a later interval, which leaves no trace.
    if (update.seed !== undefined && event.createdAt <= migration.timeReached!) continue;
    const owner = batch.owners.find(migration, event.owner);
    if (owner !== undefined && batch.contracts.wasArchived(event, owner, 1)) continue;
    areKnown = false;
    if (owner !== undefined && migration.movementsSince !== null) continue;
    const expected = `a contract that is known in migration ${migration.migrationId}, which has begun: this import was never applied`;
    throw new BadUpdate('before_first', fieldNameIn(update.format, 'contract_id'), event.contractId, expected);
  }
  return areKnown;
}

/** Whether the contract that an import names is active, or was one of the first interval and is archived. */
function isKnown({ batch, migration }: Applying, event: ContractEvent): boolean {
  return isActive(batch, migration, event) || batch.updates.wasSpent(event.idHash);
}
