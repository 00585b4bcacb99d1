import type { ArchivedContract } from '../../feed/decoded-batch.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { coinEntity } from '../../ledger/templates.ts';
import { formatTime, type Micros } from '../../ledger/time.ts';
import { fieldNameIn } from '../../ledger/update.ts';
import { type Applying, isActive, isOurs, termsOf } from './apply-events.ts';
import type { Batch } from './batch.ts';
import type { PendingCoin, StoredCoin } from './contracts.ts';
import type { MigrationState } from './state.ts';

/**
 * Throws BadUpdate where an update that is to be skipped as a redelivery archives a coin or round that is active: then it was never
 * applied (docs/rules.md, rule 1).
 */
export function requireApplied(applying: Applying, recordTime: Micros): void {
  const { update } = applying;
  for (const event of update.events) {
    if (event.kind !== 'archive' || !isStillActive(applying, event, recordTime)) continue;
    // Created here too: it only passes through, or comes again.
    if (update.events.some(({ kind, contractId }) => kind !== 'archive' && contractId === event.contractId)) continue;
    const expected =
      'the id of a contract that is not active: the update is skipped as a redelivery, because its record time ' +
      `${formatTime(recordTime)} has passed, and it archives a contract that is active, so it was never applied`;
    throw new BadUpdate('disorder', fieldNameIn(update.format, 'contract_id'), event.contractId, expected);
  }
}

/** Whether the contract that an archive names is active, and was not created again after it. */
function isStillActive({ batch, migration }: Applying, archive: ArchivedContract, recordTime: Micros): boolean {
  const { migrationId } = migration;
  const { entity } = archive;
  const coin = batch.contracts.find(archive, migrationId);
  if (coin !== undefined) {
    // A contract of another template is another one with the same id.
    const isSame = entity === null || entity === coinEntity(termsOf(coin).locked);
    return isSame && !isCreatedAfter(batch, migration, { coin, archive, recordTime });
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
  { contracts, seals }: Batch,
  { migrationId, synchronizers }: MigrationState,
  { coin, archive, recordTime }: { coin: PendingCoin | StoredCoin; archive: ArchivedContract; recordTime: Micros },
): boolean {
  const { createdSeq, owner } = coin;
  const ended = seals.endOf(migrationId, createdSeq);
  if (ended !== null && ended < recordTime) return false;
  const begun = seals.endOf(migrationId, createdSeq - 1);
  if (begun !== null && begun >= recordTime) return true;
  const concurrent = [...synchronizers.values()].filter((each) => begun === null || each.recordTime > begun);
  if (concurrent.length > 1 || contracts.coinOf(coin).createdAt > recordTime) return true;
  const creator = contracts.creatorOf(coin);
  if (creator !== null && [...synchronizers.values()].some(({ updates }) => updates.has(creator))) return true;
  return contracts.wasArchived(archive, owner, createdSeq);
}

/**
 * Whether a contract of an import that comes after its migration has begun is known: active or archived. False where one may be that
 * was created and archived within one interval, which leaves only its owner. Throws BadUpdate where a coin was never applied, because
 * its owner is not known either.
 */
export function isKnownImport({ batch, migration, update }: Applying): boolean {
  const { followed } = batch.state;
  let missing: string | null = null;
  for (const event of update.events) {
    if (isActive(batch, migration, event)) return true;
    if (event.kind === 'archive' || !isOurs(batch, event) || event.kind === 'OpenMiningRound') continue;
    if (followed?.has(event.owner) === false) continue;
    const owner = batch.owners.find(migration, event.owner);
    if (owner === undefined) missing ??= event.contractId;
    else if (batch.contracts.wasArchived(event, owner, 1)) return true;
  }
  if (missing === null) return false;
  const expected =
    `a contract that is known in migration ${migration.migrationId}, which has begun: this import was never applied, ` +
    'and neither was any before it here';
  throw new BadUpdate('before_first', fieldNameIn(update.format, 'contract_id'), missing, expected);
}
