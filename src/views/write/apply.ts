import { type Chunk, UPDATE } from '../../chunk/chunk.ts';
import { eventId, updateIdOf } from '../../chunk/chunk-ids.ts';
import { fieldName, formatOf } from '../../chunk/field-name.ts';
import { laneOf } from '../../chunk/message.ts';
import { BadUpdate, type FaultCode } from '../../ledger/bad-update.ts';
import { idText, type StoredId } from '../../ledger/contract-id.ts';
import { formatTime, type Micros } from '../../ledger/time.ts';
import type { Checkpoint } from '../../ledger/update.ts';
import { applyEvent } from './apply-events.ts';
import type { Batch } from './batch.ts';
import { type ClockRules, checkClock } from './clock.ts';
import { addIgnored } from './counts.ts';
import { LastUpdates } from './last-updates.ts';
import { isOvertaken, noteFurthest, type Place } from './overtaken.ts';
import { IMPORT_TIME, type LaneState, stateOf } from './positions.ts';
import { gridAfter, isSealed, sealGrid } from './seal.ts';
import { requireSourceMigration } from './source-migration.ts';
import { type MigrationState, newMigration } from './state.ts';

/** What applying depends on beside the feed. */
export interface ApplyRules extends ClockRules {
  readonly periodUs: number;
  /** Of messages that carry none, where an operator named it. */
  readonly migrationId: number | null;
}

/** A source starts after the end of what was replayed from files: what lies between would be missing without a trace. */
export class PossibleGap extends Error {
  constructor(synchronizerId: string, source: string, last: Micros, first: Micros) {
    super(
      `possible gap: the files end at ${formatTime(last)} for synchronizer ${synchronizerId}, and ${source} starts at ` +
        `${formatTime(first)}; replay files that reach into it, or start with another --data directory`,
    );
    this.name = 'PossibleGap';
  }
}

/** Applies message `i` of the chunk to the batch in memory. Throws BadUpdate; the batch must then be thrown away. */
export function applyMessage(batch: Batch, chunk: Chunk, i: number, rules: ApplyRules): void {
  const u = chunk.updates;
  switch (u.kind[i]) {
    case UPDATE.ignored:
      return addIgnored(batch.counts, chunk.names[u.name[i]!]!);
    case UPDATE.rare: {
      const rare = chunk.rare.get(i)!;
      if (rare.kind === 'bad') throw BadUpdate.restore(rare.fault);
      requireMigration(batch, rules);
      return applyCheckpoint(batch, rare, stateOf(batch.state.lanes, laneOf(chunk, i)), rules);
    }
    default:
      return applyTimed(batch, chunk, i, rules);
  }
}

/** Only messages of the Ledger API's format come here. */
function requireMigration({ state }: Batch, { migrationId: given }: ApplyRules): void {
  requireSourceMigration('the feed', { given, stored: state.sourceMigrationId, migrations: state.migrations.keys() });
}

function applyTimed(batch: Batch, chunk: Chunk, i: number, rules: ApplyRules): void {
  const u = chunk.updates;
  const isImport = u.kind[i] === UPDATE.import;
  const place: Place = { migrationId: u.migrationId[i]!, recordTime: isImport ? IMPORT_TIME : u.recordTime[i]! };
  const { lanes } = batch.state;
  const lane = stateOf(lanes, laneOf(chunk, i));
  if (u.isScan[i] === 0) {
    requireMigration(batch, rules);
    batch.state.sourceMigrationId ??= place.migrationId;
  }
  const overtaken = isOvertaken(lanes, lane, place);
  if (isImport) applyImport(batch, chunk, i, overtaken);
  else applyUpdate(batch, chunk, i, { ...rules, overtaken, lane });
  noteFurthest(lane, place);
}

function applyUpdate(
  batch: Batch,
  chunk: Chunk,
  i: number,
  rules: ApplyRules & { overtaken: boolean; lane: LaneState },
): void {
  const { lane } = rules;
  const u = chunk.updates;
  const recordTime = u.recordTime[i]!;
  const synchronizerId = chunk.names[u.name[i]!]!;
  const migration = migrationOf(batch, u.migrationId[i]!);
  const last = migration.synchronizers.get(synchronizerId);
  const isOfLastTime = recordTime === last?.recordTime;
  const isApplied =
    last !== undefined && (recordTime < last.recordTime || (isOfLastTime && last.updates.has(updateIdOf(chunk, i))));
  if (isOfLastTime && !isApplied && u.isScan[i] === 1) {
    const expected = `a time after ${formatTime(recordTime)}, that of update ${idText(last.updates.any)} of this synchronizer`;
    throw badTime('disorder', chunk, i, expected);
  }
  if (last?.unseen === true && lane.start !== null) {
    if (!isApplied) throw new PossibleGap(synchronizerId, lane.source, last.recordTime, recordTime);
    last.unseen = false;
    last.changed = true;
  }
  if (last !== undefined && recordTime < last.firstTime) {
    const expected = `a time from ${formatTime(last.firstTime)} on, that of the first update known of this synchronizer`;
    throw badTime('before_first', chunk, i, expected);
  }
  if (isApplied) {
    batch.counts.redelivered += 1;
    return;
  }
  const checkpoint = lane.checkpoints.get(`${migration.migrationId} ${synchronizerId}`);
  if (checkpoint !== undefined && recordTime < checkpoint && !isOfLastTime) {
    const expected = `a time from ${formatTime(checkpoint)} on, the checkpoint read before it for this synchronizer`;
    throw badTime('disorder', chunk, i, expected);
  }
  if (rules.overtaken && isSealed(migration, recordTime, rules.periodUs)) {
    const expected = 'a time after the last snapshot: its partition was passed over as idle (--kafka-partition-idle)';
    throw badTime('overtaken', chunk, i, expected);
  }
  const { timeReached } = migration;
  checkClock(recordTime, rules, { timeReached, field: fieldName(formatOf(chunk, i), 'record_time') });
  sealGrid(batch.seals, migration, { end: recordTime, inclusive: false, periodUs: rules.periodUs });
  applyEvents(batch, migration, chunk, i);
  migration.nextGrid ??= gridAfter(recordTime, rules.periodUs);
  migration.timeReached = Math.max(timeReached ?? recordTime, recordTime);
  migration.updateTime = Math.max(migration.updateTime ?? recordTime, recordTime);
  const updateId = (): StoredId => updateIdOf(chunk, i);
  if (isOfLastTime) last.updates.add(updateId);
  const updates = isOfLastTime ? last.updates : LastUpdates.first(updateId);
  const [firstTime, unseen] = [last?.firstTime ?? recordTime, last?.unseen ?? false];
  migration.synchronizers.set(synchronizerId, { firstTime, recordTime, updates, unseen, changed: true });
}

/** Imports open a migration; they move no time and rule 1 does not apply to them (design.md section 6, rule 5). */
function applyImport(batch: Batch, chunk: Chunk, i: number, overtaken: boolean): void {
  const migration = migrationOf(batch, chunk.updates.migrationId[i]!);
  if (overtaken && !isActive(batch, migration, chunk, i)) {
    const expected = 'no import: its partition was passed over as idle (--kafka-partition-idle)';
    throw new BadUpdate('overtaken', fieldName(formatOf(chunk, i), 'record_time'), 'an import', expected);
  }
  if (migration.timeReached !== null) {
    batch.counts.importsLate += 1;
    return;
  }
  const { events, createsRepeated } = batch.counts;
  applyEvents(batch, migration, chunk, i);
  const creates = batch.counts.events - events;
  if (creates === 0 || batch.counts.createsRepeated - createsRepeated < creates) return;
  batch.counts.updates -= 1;
  batch.counts.redelivered += 1;
}

/** Whether every contract of an import is there already: then it is a redelivery. */
function isActive(batch: Batch, { migrationId }: MigrationState, chunk: Chunk, i: number): boolean {
  const end = chunk.updates.eventsEnd[i]!;
  for (let event = i === 0 ? 0 : chunk.updates.eventsEnd[i - 1]!; event < end; event++) {
    const id = eventId(chunk, event);
    const isKnown =
      batch.contracts.find(chunk, event, migrationId) !== undefined ||
      batch.rounds.find(migrationId, id) !== undefined ||
      batch.counterfeits.has(chunk.events.fold[event]!, migrationId, id);
    if (!isKnown) return false;
  }
  return true;
}

function applyEvents(batch: Batch, migration: MigrationState, chunk: Chunk, i: number): void {
  const u = chunk.updates;
  const end = u.eventsEnd[i]!;
  for (let event = i === 0 ? 0 : u.eventsEnd[i - 1]!; event < end; event++) {
    applyEvent({ batch, migration, chunk, update: i, event });
  }
  const ignoredEnd = u.ignoredEnd[i]!;
  for (let at = i === 0 ? 0 : u.ignoredEnd[i - 1]!; at < ignoredEnd; at++) {
    addIgnored(batch.counts, chunk.names[chunk.ignoredEvents[at]!]!);
  }
  batch.counts.updates += 1;
}

/**
 * A checkpoint counts with the smallest of its times. Before the migration's first update or behind the time reached it
 * moves no time; what it says of each synchronizer is remembered all the same (rules 1 and 4).
 */
function applyCheckpoint(batch: Batch, checkpoint: Checkpoint, lane: LaneState, rules: ApplyRules): void {
  batch.counts.checkpoints += 1;
  if (checkpoint.times.length === 0) return;
  const known = batch.state.migrations.get(checkpoint.migrationId);
  const time = checkpoint.times.reduce((least, each) => Math.min(least, each.recordTime), Infinity);
  const compared = { timeReached: known?.timeReached ?? null, field: 'synchronizerTimes[].recordTime' };
  for (const each of checkpoint.times) checkClock(each.recordTime, rules, compared);
  rememberCheckpoint(lane, checkpoint);
  noteFurthest(lane, { migrationId: checkpoint.migrationId, recordTime: time });
  const isBehind = known === undefined || known.timeReached === null || time < known.timeReached;
  if (isBehind || (lane.start !== null && isAheadOfUnseen(known, checkpoint))) {
    batch.counts.checkpointsBehind += 1;
    return;
  }
  sealGrid(batch.seals, known, { end: time, inclusive: true, periodUs: rules.periodUs });
  known.timeReached = time;
}

/**
 * Whether it speaks for a synchronizer whose last update from the files has not come from the source behind them yet: until it has,
 * nobody knows that this one begins before the files end, and nothing may be sealed on its word.
 */
function isAheadOfUnseen({ synchronizers }: MigrationState, { times }: Checkpoint): boolean {
  return times.some(({ synchronizerId, recordTime }) => {
    const last = synchronizers.get(synchronizerId);
    return last?.unseen === true && recordTime > last.recordTime;
  });
}

function rememberCheckpoint({ checkpoints }: LaneState, { migrationId, times }: Checkpoint): void {
  for (const { synchronizerId, recordTime } of times) {
    const key = `${migrationId} ${synchronizerId}`;
    checkpoints.set(key, Math.max(checkpoints.get(key) ?? recordTime, recordTime));
  }
}

function migrationOf(batch: Batch, migrationId: number): MigrationState {
  let migration = batch.state.migrations.get(migrationId);
  if (migration === undefined) {
    migration = newMigration(migrationId);
    batch.state.migrations.set(migrationId, migration);
  }
  return migration;
}

function badTime(code: FaultCode, chunk: Chunk, i: number, expected: string): BadUpdate {
  return new BadUpdate(
    code,
    fieldName(formatOf(chunk, i), 'record_time'),
    formatTime(chunk.updates.recordTime[i]!),
    expected,
  );
}
