import { type Chunk, EVENT, isFault, type RareEvent } from '../../chunk/chunk.ts';
import { eventId } from '../../chunk/chunk-ids.ts';
import { fieldName, formatOf } from '../../chunk/field-name.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { sameCoin } from '../../ledger/coin.ts';
import { idText } from '../../ledger/contract-id.ts';
import { type Coin, INACTIVE_PURGE } from '../../ledger/update.ts';
import { addTo, takeFrom } from '../store/totals.ts';
import type { Batch } from './batch.ts';
import { type CoinTerms, coinTerms, termsOf, wideTerms } from './coin-terms.ts';
import { isPending } from './contracts.ts';
import { addIgnored } from './counts.ts';
import { type Owner, sumsOf } from './owners.ts';
import type { ActiveRound } from './rounds.ts';
import type { MigrationState } from './state.ts';

/** An archive of what is not active: perhaps because the update that created it was left out. */
export class UnknownContract extends BadUpdate {
  readonly contractId: string;

  constructor(field: string, contractId: string, expected: string) {
    super('not_active', field, contractId, expected);
    this.contractId = contractId;
  }
}

/** One event on its way into the batch. */
interface EventPlace {
  readonly batch: Batch;
  readonly migration: MigrationState;
  readonly chunk: Chunk;
  readonly update: number;
  readonly event: number;
}

/** Applies one event. Every decision is taken here, in feed order, so that no batch size can change a row. */
export function applyEvent(place: EventPlace): void {
  const { batch, chunk, event } = place;
  const kind = chunk.events.kind[event]!;
  if (kind === EVENT.archiveAny && !isActive(place)) return addIgnored(batch.counts, INACTIVE_PURGE);
  batch.counts.events += 1;
  if (kind === EVENT.amulet || kind === EVENT.locked) {
    const dso = chunk.names[chunk.events.dso[event]!]!;
    batch.state.dso ??= dso;
    if (dso !== batch.state.dso) return createCounterfeit(place);
    const owner = batch.ownerOf(place.migration, chunk, chunk.events.owner[event]!);
    return createCoin(place, coinTerms(chunk, event), owner);
  }
  if (kind === EVENT.rare) return createRare(place, chunk.rareEvents.get(event)!);
  const isRound = kind === EVENT.archiveRound || (kind === EVENT.archiveAny && activeRound(place) !== undefined);
  return isRound ? archiveRound(place) : archiveCoin(place);
}

function isActive(place: EventPlace): boolean {
  const { batch, migration, chunk, event } = place;
  const coin = batch.contracts.find(chunk, event, migration.migrationId);
  return coin !== undefined || activeRound(place) !== undefined || isCounterfeit(place);
}

function createCoin(place: EventPlace, terms: CoinTerms, owner: Owner): void {
  const { batch, migration, chunk, update, event } = place;
  const active = batch.contracts.find(chunk, event, migration.migrationId);
  if (active !== undefined) {
    const known = batch.knownCoin(active);
    if (!sameCoin(known, termsCoin(terms), batch.state.dso!)) throw otherContent(place);
    batch.counts.createsRepeated += 1;
    return;
  }
  if (isCounterfeit(place) || activeRound(place) !== undefined) throw otherContent(place);
  if (owner.unlocked.count + owner.locked.count === 0) migration.owners += 1;
  batch.owners.touch(owner);
  addTo(sumsOf(owner, terms.locked ? 'locked' : 'unlocked'), terms);
  migration.contracts += 1;
  if (terms.locked) migration.locked += terms.amount;
  else migration.unlocked += terms.amount;
  batch.contracts.add({
    no: batch.state.nextNo++,
    chunk,
    update,
    event,
    owner,
    createdSeq: migration.openSeq,
    template: batch.templates.numberOf(terms.template),
    wide: chunk.events.kind[event] === EVENT.rare ? terms : null,
    archivedSeq: 0,
  });
}

/** What does not fit the columns: rounds, wide numbers, and creates whose dso or signatories decide whether they are judged at all. */
function createRare(place: EventPlace, create: RareEvent): void {
  const { batch, migration } = place;
  if (batch.state.dso !== null && create.dso !== batch.state.dso) return createCounterfeit(place);
  if (isFault(create.signatories)) throw BadUpdate.restore(create.signatories);
  if (!create.signatories.includes(create.dso)) return createCounterfeit(place);
  if (isFault(create.body)) throw BadUpdate.restore(create.body);
  batch.state.dso = create.dso;
  if (create.kind === 'coin') {
    return createCoin(place, wideTerms(create.body), batch.owners.ofParty(migration, create.body.owner));
  }
  const active = activeRound(place);
  if (active !== undefined) {
    if (active.content !== create.body.content) throw otherContent(place);
    batch.counts.createsRepeated += 1;
    return;
  }
  const coin = batch.contracts.find(place.chunk, place.event, migration.migrationId);
  if (coin !== undefined || isCounterfeit(place)) throw otherContent(place);
  batch.rounds.add({
    fold: place.chunk.events.fold[place.event]!,
    migrationId: migration.migrationId,
    contractId: eventId(place.chunk, place.event),
    number: create.body.round,
    content: create.body.content,
  });
}

/** A coin or round that does not count is remembered by its id, so that its archive is recognised (section 6, rule 10). */
function createCounterfeit(place: EventPlace): void {
  const { batch, migration, chunk, event } = place;
  const contractId = eventId(chunk, event);
  if (batch.contracts.find(chunk, event, migration.migrationId) !== undefined) throw otherContent(place);
  if (activeRound(place) !== undefined) throw otherContent(place);
  if (isCounterfeit(place)) {
    batch.counts.createsRepeated += 1;
    return;
  }
  batch.counterfeits.set(chunk.events.fold[event]!, migration.migrationId, contractId, true);
  batch.counts.counterfeits += 1;
}

function archiveCoin(place: EventPlace): void {
  const { batch, migration, chunk, event } = place;
  const coin = batch.contracts.find(chunk, event, migration.migrationId);
  if (coin === undefined) return archiveCounterfeit(place);
  const terms = isPending(coin) ? termsOf(coin) : coin;
  const kind = chunk.events.kind[event];
  if (kind !== EVENT.archiveAny && terms.locked !== (kind === EVENT.archiveLocked)) {
    throw new BadUpdate(
      'bad_field',
      field(place, 'template_id'),
      entityOf(chunk, event),
      `that of its create, ${terms.locked ? 'LockedAmulet' : 'Amulet'}`,
    );
  }
  const owner = isPending(coin) ? coin.owner : batch.owners.ofNo(coin.owner);
  batch.owners.touch(owner);
  takeFrom(sumsOf(owner, terms.locked ? 'locked' : 'unlocked'), terms);
  if (owner.unlocked.count + owner.locked.count === 0) migration.owners -= 1;
  migration.contracts -= 1;
  if (terms.locked) migration.locked -= terms.amount;
  else migration.unlocked -= terms.amount;
  batch.contracts.archive(coin, migration.openSeq);
}

function archiveRound(place: EventPlace): void {
  const round = activeRound(place);
  if (round === undefined) return archiveCounterfeit(place);
  place.batch.rounds.remove(round);
}

function archiveCounterfeit(place: EventPlace): void {
  const { batch, migration, chunk, event } = place;
  const contractId = eventId(chunk, event);
  if (!isCounterfeit(place)) {
    const expected = `the id of a coin or round that is active in migration ${migration.migrationId}: this ${entityOf(chunk, event)} was never created or is archived already`;
    throw new UnknownContract(field(place, 'contract_id'), idText(contractId), expected);
  }
  batch.counterfeits.set(chunk.events.fold[event]!, migration.migrationId, contractId, false);
}

/** Both look at the fold first: for nearly every event that is all, and its id need not be made. */
function isCounterfeit({ batch, migration, chunk, event }: EventPlace): boolean {
  const fold = chunk.events.fold[event]!;
  if (!batch.counterfeits.mayHave(fold)) return false;
  return batch.counterfeits.has(fold, migration.migrationId, eventId(chunk, event));
}

function activeRound({ batch, migration, chunk, event }: EventPlace): ActiveRound | undefined {
  if (!batch.rounds.mayHave(chunk.events.fold[event]!)) return undefined;
  return batch.rounds.find(migration.migrationId, eventId(chunk, event));
}

function otherContent(place: EventPlace): BadUpdate {
  const id = idText(eventId(place.chunk, place.event));
  return new BadUpdate(
    'other_content',
    field(place, 'contract_id'),
    id,
    'an id that is not active, or a create equal to the one that made it',
  );
}

function field({ chunk, update }: EventPlace, scanName: string): string {
  return fieldName(formatOf(chunk, update), scanName);
}

function entityOf(chunk: Chunk, event: number): string {
  const kind = chunk.events.kind[event];
  if (kind === EVENT.archiveRound) return 'OpenMiningRound';
  return kind === EVENT.archiveLocked ? 'LockedAmulet' : 'Amulet';
}

function termsCoin(terms: CoinTerms): Coin {
  const [templateId = '', packageName = ''] = terms.template.split('\n');
  const round = BigInt(terms.round);
  return { ...terms, round, templateId, packageName, entity: terms.locked ? 'LockedAmulet' : 'Amulet' };
}
