import type { UpdateContent } from '../../feed/decoded-batch.ts';
import type { ArchivedContract, ContractEvent, NewCoin, NewRound, UncountedCreate } from '../../feed/event-columns.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { sameCoin } from '../../ledger/coin.ts';
import { coinEntity } from '../../ledger/templates.ts';
import { fieldNameIn, INACTIVE_PURGE, UNFOLLOWED } from '../../ledger/update.ts';
import { addTo, takeFrom } from '../store/stored-rows.ts';
import type { Batch } from './batch.ts';
import { type ActiveTerms, comparedCoin, isPending, type PendingCoin, type StoredCoin } from './contracts.ts';
import { sumsOf } from './owner-sums.ts';
import type { LaneState } from './positions.ts';
import { addEvent, addIgnored, type MigrationState } from './state.ts';

/** An archive of a contract that is not active: perhaps because the update that created it was left out. */
export class UnknownContract extends BadUpdate {
  readonly contractId: string;

  constructor({ migration, update }: Applying, { entity, contractId }: ArchivedContract) {
    const expected =
      `the id of a coin or round that is active in migration ${migration.migrationId}: ` +
      `this ${entity} was never created or is archived already`;
    super('not_active', fieldNameIn(update.format, 'contract_id'), contractId, expected);
    this.contractId = contractId;
  }
}

/** The update being applied, with the state it changes. `items`: the digest items of its batch of messages. */
export interface Applying {
  readonly batch: Batch;
  readonly migration: MigrationState;
  readonly update: UpdateContent;
  readonly items: Uint8Array;
  readonly lane: LaneState;
}

type Create = NewCoin | NewRound | UncountedCreate;

/**
 * Applies the events of an update and counts it. All decisions are made here, in feed order, so that rows do not depend
 * on the batch size.
 */
export function applyEvents(applying: Applying): void {
  const { counts } = applying.batch;
  const { events, ignored } = applying.update;
  for (const event of events) {
    if (event.kind === 'archive') archive(applying, event);
    else create(applying, event);
  }
  for (const what in ignored) addIgnored(counts, what, ignored[what]);
  counts.updates += 1;
}

/** Whether the contract that an event names is active: a coin, a round or a counterfeit. */
export function isActive(batch: Batch, { migrationId }: MigrationState, event: ContractEvent): boolean {
  return (
    batch.contracts.find(event, migrationId) !== undefined ||
    batch.rounds.find(event, migrationId) !== undefined ||
    batch.counterfeits.has(event, migrationId)
  );
}

/**
 * Whether a create is signed by the DSO that it names, and that is the one that counts (docs/rules.md, rule 10). Throws BadUpdate
 * for what is wrong with one that would count.
 */
export function isOurs({ state: { dso } }: Batch, event: Create): event is NewCoin | NewRound {
  if (dso !== null && dso !== dsoOf(event)) return false;
  if (event.kind !== 'uncounted') return true;
  if (event.fault !== null) throw BadUpdate.restore(event.fault);
  return false;
}

function dsoOf(event: Create): string {
  return 'origin' in event ? event.origin.dso : event.dso;
}

function create(applying: Applying, event: Create): void {
  const { batch } = applying;
  addEvent(batch.counts, 'create', event.kind === 'uncounted' ? event.entity : event.kind);
  if (!isOurs(batch, event)) {
    if (remember(applying, event)) batch.counts.counterfeits += 1;
    return;
  }
  batch.state.dso = dsoOf(event);
  if (event.kind === 'OpenMiningRound') createRound(applying, event);
  else if (isFollowed(batch, event)) createCoin(applying, event);
  // Of an owner that is not followed only some coins are seen: none counts (docs/rules.md, rule 14).
  else if (remember(applying, event)) addIgnored(batch.counts, UNFOLLOWED);
}

export function isFollowed({ state: { followed } }: Batch, { owner }: NewCoin): boolean {
  return followed === null || followed.has(owner);
}

function createCoin(applying: Applying, event: NewCoin): void {
  const { batch, migration, update, items } = applying;
  const { migrationId } = migration;
  const effect = batch.updates.addCreated(event, items);
  const active = batch.contracts.find(event, migrationId);
  if (active !== undefined) {
    if (!sameCoin(batch.contracts.coinOf(active), comparedCoin(event), batch.state.dso!))
      throw otherContent(update, event);
    batch.counts.createsRepeated += 1;
    return;
  }
  if (batch.counterfeits.has(event, migrationId) || batch.rounds.find(event, migrationId) !== undefined) {
    throw otherContent(update, event);
  }
  const owner = batch.owners.ofParty(migration, event.owner);
  if (owner.unlocked.count + owner.locked.count === 0) migration.owners += 1;
  batch.owners.touch(owner);
  batch.updates.touch(owner);
  batch.items.add(migrationId, items, event.item);
  const kind = event.kind === 'LockedAmulet' ? 'locked' : 'unlocked';
  const { amount, rate, round, expiry } = event;
  addTo(sumsOf(owner, kind), { amount, rate, rateRound: rate * round, expiry });
  migration.contracts += 1;
  migration[kind] += amount;
  batch.contracts.add({
    create: event,
    items,
    creator: update.recordTime === null ? (update.seed?.createdIn ?? null) : batch.updates.no,
    effect,
    no: batch.state.nextNo++,
    owner,
    createdSeq: migration.openSeq,
    template: batch.templates.numberOf(event.origin),
    archivedSeq: 0,
  });
}

function createRound({ batch, migration, update }: Applying, event: NewRound): void {
  const { migrationId } = migration;
  const active = batch.rounds.find(event, migrationId);
  if (active !== undefined) {
    if (active.content !== event.round.content) throw otherContent(update, event);
    batch.counts.createsRepeated += 1;
    return;
  }
  if (isActive(batch, migration, event)) throw otherContent(update, event);
  batch.rounds.add(event, migrationId, event.round);
}

/**
 * A coin or round that does not count is remembered by its id, so that its archive is recognised (docs/rules.md, rule 10).
 * False for one that was remembered before.
 */
function remember({ batch, migration, update }: Applying, event: Create): boolean {
  if (batch.counterfeits.has(event, migration.migrationId)) {
    batch.counts.createsRepeated += 1;
    return false;
  }
  if (isActive(batch, migration, event)) throw otherContent(update, event);
  batch.counterfeits.set(event, migration.migrationId, true);
  return true;
}

function archive(applying: Applying, event: ArchivedContract): void {
  const { batch, migration } = applying;
  const { entity } = event;
  if (entity === null && !isActive(batch, migration, event)) return addIgnored(batch.counts, INACTIVE_PURGE);
  addEvent(batch.counts, 'archive', entity);
  const mayBeRound = entity === null || entity === 'OpenMiningRound';
  const round = mayBeRound ? batch.rounds.find(event, migration.migrationId) : undefined;
  if (round !== undefined) return batch.rounds.remove(round);
  const coin = entity === 'OpenMiningRound' ? undefined : batch.contracts.find(event, migration.migrationId);
  if (coin !== undefined) return archiveCoin(applying, event, coin);
  if (!batch.counterfeits.has(event, migration.migrationId)) throw new UnknownContract(applying, event);
  batch.counterfeits.set(event, migration.migrationId, false);
}

function archiveCoin(applying: Applying, event: ArchivedContract, coin: PendingCoin | StoredCoin): void {
  const { batch, migration, update, items } = applying;
  const terms = termsOf(coin);
  const created = coinEntity(terms.locked);
  if (event.entity !== null && event.entity !== created) {
    const field = fieldNameIn(update.format, 'template_id');
    throw new BadUpdate('bad_field', field, event.entity, `that of its create, ${created}`);
  }
  const { owner } = coin;
  batch.owners.touch(owner);
  batch.updates.touch(owner);
  // A late import is judged only where no snapshot import came first.
  if (coin.createdSeq === 1 && migration.importedAt === null) batch.updates.addSpent(event.idHash);
  if (isPending(coin) && coin.creator === batch.updates.no) batch.updates.passThrough(coin.effect);
  else batch.updates.addArchived(event, items);
  const kind = terms.locked ? 'locked' : 'unlocked';
  takeFrom(sumsOf(owner, kind), terms);
  if (owner.unlocked.count + owner.locked.count === 0) migration.owners -= 1;
  migration.contracts -= 1;
  migration[kind] -= terms.amount;
  addArchiveItem(applying, event, coin);
  batch.contracts.archive(coin, migration.openSeq);
}

export function termsOf(coin: PendingCoin | StoredCoin): ActiveTerms {
  if (!isPending(coin)) return coin;
  const { kind, amount, rate, round } = coin.create;
  return { locked: kind === 'LockedAmulet', amount, rate, rateRound: rate * round };
}

/** A contract made since the newest snapshot on the grid leaves no trace in the digest: its own item again cancels it out. */
function addArchiveItem(
  { batch, migration: { migrationId, gridSeq }, items }: Applying,
  archived: ArchivedContract,
  coin: PendingCoin | StoredCoin,
): void {
  if (coin.createdSeq <= gridSeq) batch.items.add(migrationId, items, archived.item);
  else if (isPending(coin)) batch.items.add(migrationId, coin.items, coin.create.item);
  else {
    const created = { ...coin, entity: coinEntity(coin.locked), owner: batch.owners.partyOf(coin.owner) };
    batch.items.addCreated(migrationId, created, archived.contractId);
  }
}

function otherContent({ format }: UpdateContent, { contractId }: Create): BadUpdate {
  const expected = 'an id that is not active, or a create equal to the one that made it';
  return new BadUpdate('other_content', fieldNameIn(format, 'contract_id'), contractId, expected);
}
