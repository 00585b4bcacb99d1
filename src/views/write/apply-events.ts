import type { EventCursor } from '../../chunk/event-cursor.ts';
import type { UpdateCursor } from '../../chunk/update-cursor.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { sameCoin } from '../../ledger/coin.ts';
import { idText } from '../../ledger/contract-id.ts';
import { coinEntity } from '../../ledger/templates.ts';
import { INACTIVE_PURGE, type OpenRound, UNFOLLOWED } from '../../ledger/update.ts';
import { addTo, takeFrom } from '../store/totals.ts';
import type { Batch } from './batch.ts';
import { isPending, type PendingCoin, type StoredCoin } from './contracts.ts';
import { addEvent, addIgnored } from './counts.ts';
import { sumsOf } from './owners.ts';
import type { MigrationState } from './state.ts';

/** An archive of a contract that is not active: perhaps because the update that created it was left out. */
export class UnknownContract extends BadUpdate {
  readonly contractId: string;

  constructor(field: string, contractId: string, expected: string) {
    super('not_active', field, contractId, expected);
    this.contractId = contractId;
  }
}

/** The event being applied, with the state it changes. */
interface Applying {
  readonly batch: Batch;
  readonly migration: MigrationState;
  readonly update: UpdateCursor;
  readonly event: EventCursor;
}

/**
 * Applies the events of an update and counts it. All decisions are made here, in feed order, so that rows do not depend
 * on the batch size.
 */
export function applyEvents(batch: Batch, migration: MigrationState, update: UpdateCursor): void {
  const applying = { batch, migration, update, event: update.events() };
  while (applying.event.next()) applyEvent(applying);
  for (const what of update.ignoredEvents()) addIgnored(batch.counts, what);
  batch.counts.updates += 1;
}

/** Whether the contract that an event names is active: a coin, a round or a counterfeit. */
export function isActive(batch: Batch, { migrationId }: MigrationState, event: EventCursor): boolean {
  return (
    batch.contracts.find(event, migrationId) !== undefined ||
    batch.rounds.find(event, migrationId) !== undefined ||
    batch.counterfeits.has(event, migrationId)
  );
}

function applyEvent(applying: Applying): void {
  const { batch, migration, event } = applying;
  if (event.isArchive && event.entity === null && !isActive(batch, migration, event)) {
    return addIgnored(batch.counts, INACTIVE_PURGE);
  }
  addEvent(batch.counts, event.isArchive ? 'archive' : 'create', event.entity);
  if (event.isArchive) archive(applying);
  else create(applying);
}

/** Whether a create is signed by the DSO that it names, and that is the one that counts (docs/rules.md, rule 10). */
export function isOurs({ state: { dso } }: Batch, event: EventCursor): boolean {
  return (dso === null || dso === event.dso) && event.isSigned();
}

function create(applying: Applying): void {
  const { batch, event } = applying;
  if (!isOurs(batch, event)) return createCounterfeit(applying);
  batch.state.dso = event.dso;
  const { openRound } = event;
  const { followed } = batch.state;
  if (openRound === null && followed !== null && !followed.has(event.owner)) createUnfollowed(applying);
  else if (openRound === null) createCoin(applying);
  else createRound(applying, openRound);
}

function createCoin(applying: Applying): void {
  const { batch, migration, event } = applying;
  const { migrationId } = migration;
  const active = batch.contracts.find(event, migrationId);
  if (active !== undefined) {
    if (!sameCoin(batch.contracts.coinOf(active), event.coin(), batch.state.dso!)) throw otherContent(applying);
    batch.counts.createsRepeated += 1;
    return;
  }
  if (batch.counterfeits.has(event, migrationId) || batch.rounds.find(event, migrationId) !== undefined) {
    throw otherContent(applying);
  }
  const owner = batch.owners.ofCreate(migration, event);
  if (owner.unlocked.count + owner.locked.count === 0) migration.owners += 1;
  batch.owners.touch(owner);
  batch.items.add(migrationId, event);
  const kind = event.locked ? 'locked' : 'unlocked';
  addTo(sumsOf(owner, kind), event);
  migration.contracts += 1;
  migration[kind] += event.amount;
  const { chunk, update, event: number } = event.ref();
  batch.contracts.add({
    chunk,
    update,
    event: number,
    no: batch.state.nextNo++,
    owner,
    createdSeq: migration.openSeq,
    template: batch.templates.numberOf(event.template),
    archivedSeq: 0,
  });
}

function createRound(applying: Applying, round: OpenRound): void {
  const { batch, migration, event } = applying;
  const { migrationId } = migration;
  const active = batch.rounds.find(event, migrationId);
  if (active !== undefined) {
    if (active.content !== round.content) throw otherContent(applying);
    batch.counts.createsRepeated += 1;
    return;
  }
  if (isActive(batch, migration, event)) throw otherContent(applying);
  batch.rounds.add(event, migrationId, round);
}

/** A coin or round that does not count is remembered by its id, so that its archive is recognised (docs/rules.md, rule 10). */
function createCounterfeit(applying: Applying): void {
  if (remember(applying)) applying.batch.counts.counterfeits += 1;
}

/** Of an owner that is not followed only some coins are seen: none counts (docs/rules.md, rule 14). */
function createUnfollowed(applying: Applying): void {
  if (remember(applying)) addIgnored(applying.batch.counts, UNFOLLOWED);
}

/** False for one that was remembered before. */
function remember(applying: Applying): boolean {
  const { batch, migration, event } = applying;
  if (batch.counterfeits.has(event, migration.migrationId)) {
    batch.counts.createsRepeated += 1;
    return false;
  }
  if (isActive(batch, migration, event)) throw otherContent(applying);
  batch.counterfeits.set(event, migration.migrationId, true);
  return true;
}

function archive(applying: Applying): void {
  const { batch, migration, event } = applying;
  const { entity } = event;
  const mayBeRound = entity === null || entity === 'OpenMiningRound';
  const round = mayBeRound ? batch.rounds.find(event, migration.migrationId) : undefined;
  if (round !== undefined) return batch.rounds.remove(round);
  const coin = entity === 'OpenMiningRound' ? undefined : batch.contracts.find(event, migration.migrationId);
  if (coin !== undefined) return archiveCoin(applying, coin);
  if (!batch.counterfeits.has(event, migration.migrationId)) throw unknownContract(applying);
  batch.counterfeits.set(event, migration.migrationId, false);
}

function archiveCoin({ batch, migration, update, event }: Applying, coin: PendingCoin | StoredCoin): void {
  const terms = batch.contracts.termsOf(coin);
  const created = coinEntity(terms.locked);
  if (event.entity !== null && event.entity !== created) {
    throw new BadUpdate('bad_field', update.fieldName('template_id'), event.entity, `that of its create, ${created}`);
  }
  const { owner } = coin;
  batch.owners.touch(owner);
  const kind = terms.locked ? 'locked' : 'unlocked';
  takeFrom(sumsOf(owner, kind), terms);
  if (owner.unlocked.count + owner.locked.count === 0) migration.owners -= 1;
  migration.contracts -= 1;
  migration[kind] -= terms.amount;
  addArchiveItem(batch, migration, event, coin);
  batch.contracts.archive(coin, migration.openSeq);
}

/** A contract made since the newest snapshot on the grid leaves no trace in the digest: its own item again cancels it out. */
function addArchiveItem(
  { items, contracts }: Batch,
  { migrationId, gridSeq }: MigrationState,
  archive: EventCursor,
  coin: PendingCoin | StoredCoin,
): void {
  if (coin.createdSeq <= gridSeq) items.add(migrationId, archive);
  else if (isPending(coin)) items.add(migrationId, contracts.createOf(coin));
  else {
    const created = { ...coin, entity: coinEntity(coin.locked), owner: coin.owner.party };
    items.addCreated(migrationId, created, idText(archive.contractId()));
  }
}

function unknownContract({ migration, update, event }: Applying): UnknownContract {
  const expected =
    `the id of a coin or round that is active in migration ${migration.migrationId}: ` +
    `this ${event.entity} was never created or is archived already`;
  return new UnknownContract(update.fieldName('contract_id'), idText(event.contractId()), expected);
}

function otherContent({ update, event }: Applying): BadUpdate {
  const expected = 'an id that is not active, or a create equal to the one that made it';
  return new BadUpdate('other_content', update.fieldName('contract_id'), idText(event.contractId()), expected);
}
