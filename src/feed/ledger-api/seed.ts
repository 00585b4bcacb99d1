import { formatTime, type Micros } from '../../ledger/time.ts';
import { AnswerFailure } from '../network/failure.ts';
import { importOf, type SeedMessage } from '../network/seed.ts';
import { type Ask, activeContracts, type CreatedEvent } from './active-contracts.ts';
import type { LedgerApiClient } from './client.ts';
import type { SynchronizerTime } from './participant.ts';
import { elementOf, updatesRequest } from './updates.ts';

/** Which contracts are asked for, and how. */
export interface SeedAsked {
  readonly client: LedgerApiClient;
  readonly ask: Ask;
  readonly offset: number;
  readonly eventFormat: object;
  readonly migrationId: number;
}

/** All that is active at an offset, as imports. */
export async function* importsAt({
  client,
  ask,
  offset,
  eventFormat,
  migrationId,
}: SeedAsked): AsyncGenerator<readonly SeedMessage[]> {
  const pages = activeContracts(client, { activeAtOffset: offset, eventFormat }, ask);
  for await (const page of pages) yield page.map((created) => importOf(contractOf(created), migrationId));
}

/** By the names that a Scan gives to its members. */
function contractOf(created: CreatedEvent): Parameters<typeof importOf>[0] {
  const { contractId, nodeId } = created;
  const text = JSON.stringify({
    contract_id: contractId,
    template_id: created.templateId,
    package_name: created.packageName,
    create_arguments: created.createArgument,
    created_at: created.createdAt,
    signatories: created.signatories,
    observers: created.observers,
  });
  const id = typeof contractId === 'string' ? contractId : '';
  return { id, node: Number.isSafeInteger(nodeId) ? Number(nodeId) : 0, text };
}

/** The end of a seed (docs/rules.md, rule 13). */
export function seedMark(
  times: readonly SynchronizerTime[],
  about: { migrationId: number; offset: number; participantId: string; url: string },
): Buffer {
  const seed = {
    migration_id: about.migrationId,
    record_time: formatTime(Math.max(...times.map(({ recordTime }) => recordTime))),
    synchronizer_times: times.map(({ synchronizerId, recordTime }) => {
      return { synchronizerId, recordTime: formatTime(recordTime) };
    }),
    offset: about.offset,
    participant_id: about.participantId,
    source: `ledger api ${about.url}`,
  };
  return Buffer.from(JSON.stringify({ seed }));
}

/**
 * The time of the end, of each synchronizer that the first checkpoint behind it names: that of a checkpoint at the end, or just before
 * its first update behind it. What is read for it is read again behind the mark.
 */
export async function timeOf({
  client,
  offset: end,
  eventFormat,
  migrationId,
}: SeedAsked): Promise<readonly SynchronizerTime[]> {
  const first = new Map<string, Micros>();
  const { target, elements } = await client.openStream('/v2/updates', updatesRequest(end, eventFormat));
  for await (const batch of elements) {
    for (const bytes of batch) {
      const { decoded, offset } = elementOf(bytes, { target, migrationId });
      if (decoded?.kind === 'update' && decoded.recordTime !== null && !first.has(decoded.synchronizerId))
        first.set(decoded.synchronizerId, decoded.recordTime);
      if (decoded?.kind !== 'checkpoint' || decoded.times.length === 0) continue;
      if (offset === end) return decoded.times;
      return decoded.times.map(({ synchronizerId, recordTime }) => {
        const before = first.get(synchronizerId);
        return { synchronizerId, recordTime: before === undefined ? recordTime : before - 1 };
      });
    }
  }
  throw new AnswerFailure(`${target}: the stream was closed before its first checkpoint`, { conduct: 'reconnect' });
}
