import type { UpdateContent } from '../../feed/decoded-batch.ts';
import type {
  ArchivedContract,
  ContractEvent,
  NewCoin,
  NewRound,
  NewToken,
  UncountedCreate,
  UncountedHolding,
} from '../../feed/event-columns.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { sameCoin } from '../../ledger/coin.ts';
import { archivedLine, createdLine, tokenLine } from '../../ledger/digest.ts';
import { COIN_INSTRUMENT, coinEntity } from '../../ledger/templates.ts';
import {
  fieldNameIn,
  INACTIVE_PURGE,
  TOKEN_AGAIN,
  TOKEN_COUNTERFEIT,
  UNFOLLOWED,
  UNFOLLOWED_TOKEN,
} from '../../ledger/update.ts';
import { addTo, takeFrom } from '../store/stored-rows.ts';
import type { Batch } from './batch.ts';
import {
  type ActiveTerms,
  comparedCoin,
  isLocked,
  isPending,
  NO_EFFECT,
  type PendingCoin,
  type StoredCoin,
} from './contracts.ts';
import type { OpenItems } from './open-items.ts';
import { isToken, type Owner, sumsOf } from './owner-sums.ts';
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
type Holding = NewToken | UncountedHolding;
type Archived = PendingCoin | StoredCoin;

export function isHolding(event: ContractEvent): event is Holding {
  return event.kind === 'token' || event.kind === 'locked token' || event.kind === 'uncounted holding';
}

/**
 * Applies the events of an update and counts it. All decisions are made here, in feed order, so that rows do not depend
 * on the batch size.
 */
export function applyEvents(applying: Applying): void {
  const { counts } = applying.batch;
  const { events, ignored } = applying.update;
  for (const event of events) {
    if (event.kind === 'archive') archive(applying, event);
    else if (isHolding(event)) createHolding(applying, event);
    else create(applying, event);
  }
  for (const what in ignored) addIgnored(counts, what, ignored[what]);
  counts.updates += 1;
}

/** Whether the contract that an event names is active: a coin, a round, a holding of tokens or a counterfeit. */
export function isActive(batch: Batch, { migrationId }: MigrationState, event: ContractEvent): boolean {
  return (
    batch.contracts.find(event, migrationId) !== undefined ||
    batch.rounds.find(event, migrationId) !== undefined ||
    batch.uncounted.has(event, migrationId)
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
  if (batch.state.dso === null) nameDso(applying, event);
  if (event.kind === 'OpenMiningRound') createRound(applying, event);
  else if (isFollowed(batch, event)) createCoin(applying, event);
  // Of an owner that is not followed only some coins are seen: none counts (docs/rules.md, rule 14).
  else if (remember(applying, event)) addIgnored(batch.counts, UNFOLLOWED);
}

/** The first coin or round names the DSO, whose instrument is the coin's alone: holdings of it may have been counted as tokens. */
function nameDso({ batch, update }: Applying, event: NewCoin | NewRound): void {
  const dso = dsoOf(event);
  if (batch.instruments.hadCoinOf(dso)) {
    const field = fieldNameIn(update.format, 'create_arguments');
    const expected = `a DSO without tokens named ${COIN_INSTRUMENT}, which this directory has counted: begin a new directory with --dso ${dso}`;
    throw new BadUpdate('dso_of_tokens', field, dso, expected);
  }
  batch.state.dso = dso;
}

/** An account without an owner counts wherever it is seen. */
export function isFollowed({ state: { followed } }: Batch, { owner }: NewCoin | NewToken): boolean {
  return followed === null || owner === '' || followed.has(owner);
}

function createCoin(applying: Applying, event: NewCoin): void {
  const { batch, migration, update, items } = applying;
  const { migrationId } = migration;
  const effect = batch.updates.addCreated(event, items);
  const active = batch.contracts.find(event, migrationId);
  if (active !== undefined) {
    if (isToken(active.owner) || !sameCoin(batch.contracts.coinOf(active), comparedCoin(event), batch.state.dso!))
      throw otherContent(update, event);
    batch.counts.createsRepeated += 1;
    return;
  }
  if (batch.uncounted.has(event, migrationId) || batch.rounds.find(event, migrationId) !== undefined) {
    throw otherContent(update, event);
  }
  if (event.viewDiffers) batch.counts.viewDiffers += 1;
  const owner = batch.owners.ofParty(migration, event.owner);
  if (owner.unlocked.count + owner.locked.count === 0) owner.instrument.owners += 1;
  addContract(applying, event, { owner, effect });
}

function addContract(
  { batch, migration, update, items }: Applying,
  event: NewCoin | NewToken,
  { owner, effect }: { owner: Owner; effect: number },
): PendingCoin {
  const { instrument } = owner;
  batch.owners.touch(owner);
  batch.updates.touch(owner);
  itemsOf(batch, owner).add(migration.migrationId, items, event.item);
  const kind = isLocked(event) ? 'locked' : 'unlocked';
  const { amount, rate, round, expiry } = event;
  addTo(sumsOf(owner, kind), { amount, rate, rateRound: rate * round, expiry });
  instrument.contracts += 1;
  instrument[kind] += amount;
  const contract = {
    create: event,
    items,
    creator: update.recordTime === null ? (update.seed?.createdIn ?? null) : batch.updates.no,
    effect,
    no: batch.state.nextNo++,
    owner,
    createdSeq: migration.openSeq,
    template: batch.templates.numberOf(event.origin),
    archivedSeq: 0,
  };
  batch.contracts.add(contract);
  return contract;
}

function itemsOf(batch: Batch, owner: Owner): OpenItems {
  return isToken(owner) ? batch.tokenItems : batch.items;
}

/**
 * A holding of the token standard (docs/rules.md, rule 16). Its views may differ whenever they are read, and are the registry's: nothing that
 * they say is bad, and a create of an id that is active changes nothing, but for one that could not be read before.
 */
function createHolding(applying: Applying, event: Holding): void {
  const { batch, migration } = applying;
  const { counts, state, uncounted } = batch;
  const { migrationId } = migration;
  if (state.tokens !== true) return addIgnored(counts, event.ignoredAs);
  addEvent(counts, 'create', 'token');
  batch.updates.addToken();
  const known = uncounted.kindOf(event, migrationId);
  const named = event.kind === 'uncounted holding' ? event.unreadable : event.origin;
  const isOfCoin = named !== null && named.admin === state.dso && named.instrument === COIN_INSTRUMENT;
  const isCounterfeit = named === null || isOfCoin;
  const unreadable = event.kind === 'uncounted holding' ? event.unreadable : null;
  const becomesReadable = known === 'unreadable' && !isCounterfeit && unreadable === null;
  if (!becomesReadable && isActive(batch, migration, event)) return addIgnored(counts, TOKEN_AGAIN);
  const archivedAs = batch.earlyArchives.take(event, migration);
  if (isCounterfeit) addIgnored(counts, TOKEN_COUNTERFEIT);
  if (isCounterfeit || unreadable !== null) {
    if (archivedAs === null)
      uncounted.set(event, migrationId, unreadable !== null && !isCounterfeit ? unreadable : 'counterfeit');
    return;
  }
  const token = event as NewToken;
  if (!isFollowed(batch, token)) {
    addIgnored(counts, UNFOLLOWED_TOKEN);
    if (archivedAs === null) uncounted.set(event, migrationId, 'counterfeit');
    return;
  }
  if (becomesReadable) uncounted.set(event, migrationId, null);
  const instrument = batch.instruments.ofName(migration, token.origin.admin, token.origin.instrument);
  const owner = batch.owners.ofAccount(instrument, token);
  if (owner.unlocked.count + owner.locked.count === 0) batch.instruments.addOpenAccount(instrument, token.owner, 1);
  const contract = addContract(applying, token, { owner, effect: NO_EFFECT });
  if (archivedAs !== null) archiveCoin(applying, archivedAs, contract);
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
  if (batch.uncounted.has(event, migration.migrationId)) {
    batch.counts.createsRepeated += 1;
    return false;
  }
  if (isActive(batch, migration, event)) throw otherContent(update, event);
  batch.uncounted.set(event, migration.migrationId, 'counterfeit');
  return true;
}

function archive(applying: Applying, event: ArchivedContract): void {
  const { batch, migration } = applying;
  const { entity } = event;
  const isOther = entity === 'other template' || entity === 'other package';
  if (isOther && (batch.state.tokens !== true || !isActive(batch, migration, event))) {
    if (batch.state.tokens === true) batch.earlyArchives.add(event, applying.update);
    return addIgnored(batch.counts, entity);
  }
  if (entity === null && !isActive(batch, migration, event)) return addIgnored(batch.counts, INACTIVE_PURGE);
  addEvent(batch.counts, 'archive', isOther ? 'token' : entity);
  const mayBeRound = entity === null || entity === 'OpenMiningRound';
  const round = mayBeRound ? batch.rounds.find(event, migration.migrationId) : undefined;
  if (round !== undefined) return batch.rounds.remove(round);
  const coin = entity === 'OpenMiningRound' ? undefined : batch.contracts.find(event, migration.migrationId);
  if (coin !== undefined) return archiveCoin(applying, event, coin);
  if (!batch.uncounted.has(event, migration.migrationId)) throw new UnknownContract(applying, event);
  if (isOther) batch.updates.addToken();
  batch.uncounted.set(event, migration.migrationId, null);
}

/** Whether an archive may be that of a contract, by its template. */
export function isOfTemplate({ entity }: ArchivedContract, contract: Archived): boolean {
  if (entity === null) return true;
  if (isToken(contract.owner)) return entity === 'other template' || entity === 'other package';
  return entity === coinEntity(termsOf(contract).locked);
}

function archiveCoin(applying: Applying, event: ArchivedContract, coin: Archived): void {
  const { batch, migration, update, items } = applying;
  const terms = termsOf(coin);
  const { owner } = coin;
  const { instrument } = owner;
  if (!isOfTemplate(event, coin)) {
    const created = isToken(owner) ? 'another template' : coinEntity(terms.locked);
    throw new BadUpdate(
      'bad_field',
      fieldNameIn(update.format, 'template_id'),
      event.entity,
      `that of its create, ${created}`,
    );
  }
  batch.owners.touch(owner);
  batch.updates.touch(owner);
  // A late import is judged only where no snapshot import came first.
  if (coin.createdSeq === 1 && migration.importedAt === null) batch.updates.addSpent(event.idHash);
  if (isToken(owner)) batch.updates.addToken();
  else if (isPending(coin) && coin.creator === batch.updates.no) batch.updates.passThrough(coin.effect);
  else batch.updates.addArchived(event, items);
  const kind = terms.locked ? 'locked' : 'unlocked';
  takeFrom(sumsOf(owner, kind), terms);
  if (owner.unlocked.count + owner.locked.count === 0) {
    if (isToken(owner)) batch.instruments.addOpenAccount(instrument, batch.owners.accountOf(owner).owner, -1);
    else instrument.owners -= 1;
  }
  instrument.contracts -= 1;
  instrument[kind] -= terms.amount;
  addArchiveItem(applying, event, coin);
  batch.contracts.archive(coin, migration.openSeq);
}

export function termsOf(coin: Archived): ActiveTerms {
  if (!isPending(coin)) return coin;
  const { amount, rate, round } = coin.create;
  return { locked: isLocked(coin.create), amount, rate, rateRound: rate * round };
}

/** A contract made since the newest snapshot on the grid leaves no trace in the digest: its own item again cancels it out. */
function addArchiveItem(
  { batch, migration: { migrationId, gridSeq }, items }: Applying,
  archived: ArchivedContract,
  coin: Archived,
): void {
  const { contractId, item } = archived;
  const open = itemsOf(batch, coin.owner);
  if (coin.createdSeq <= gridSeq)
    if (item >= 0) open.add(migrationId, items, item);
    else open.addLine(migrationId, archivedLine(contractId));
  else if (isPending(coin)) open.add(migrationId, coin.items, coin.create.item);
  else if (isToken(coin.owner)) {
    const { admin, name } = coin.owner.instrument;
    const token = { ...coin, ...batch.owners.accountOf(coin.owner), admin, instrument: name };
    open.addLine(migrationId, tokenLine(token, contractId));
  } else {
    const created = { ...coin, entity: coinEntity(coin.locked), owner: batch.owners.partyOf(coin.owner) };
    open.addLine(migrationId, createdLine(created, contractId));
  }
}

function otherContent({ format }: UpdateContent, { contractId }: Create): BadUpdate {
  const expected = 'an id that is not active, or a create equal to the one that made it';
  return new BadUpdate('other_content', fieldNameIn(format, 'contract_id'), contractId, expected);
}
