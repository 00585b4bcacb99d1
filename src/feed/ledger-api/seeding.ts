import type { Micros } from '../../ledger/time.ts';
import { AnswerFailure } from '../network/failure.ts';
import type { JsonClient } from '../network/json-client.ts';
import { type Ask, type CreatedEvent, NoPages, pagedContracts, streamedContracts } from './active-contracts.ts';
import type { LedgerEnd, SynchronizerTime } from './participant.ts';
import type { LedgerApiProgress } from './progress.ts';
import { importOf, type SeedMessage, seedMark } from './seed.ts';
import type { Streams } from './streams.ts';
import { elementOf, updatesRequest } from './updates.ts';

export interface Seeding {
  readonly client: JsonClient;
  readonly streams: Streams;
  readonly signal: AbortSignal;
  readonly ask: Ask;
  readonly progress: LedgerApiProgress;
  readonly end: LedgerEnd;
  readonly eventFormat: object;
  readonly migrationId: number;
  readonly participantId: string;
}

/** All that is active at the end of the ledger, as a seed; its mark is the last message, once the time of that end is known. */
export async function* readSeed(seeding: Seeding): AsyncGenerator<readonly SeedMessage[]> {
  const { client, end, progress, migrationId, participantId } = seeding;
  const { offset } = end;
  try {
    let contracts = 0;
    progress.seeding(contracts, offset);
    for await (const page of importsAt({ ...seeding, offset })) {
      contracts += page.length;
      progress.seeding(contracts, offset);
      yield page;
    }
    if (end.times === null) progress.awaitingTime(offset);
    const times = end.times ?? (await seeding.ask(() => timeOf(seeding)));
    // A mark says that nothing is missing.
    seeding.signal.throwIfAborted();
    yield [{ bytes: seedMark(times, { migrationId, offset, participantId, url: client.url }) }];
  } catch (error) {
    // Another end can be read.
    if (!(error instanceof AnswerFailure) || error.about.code !== 'PARTICIPANT_PRUNED_DATA_ACCESSED') throw error;
    throw new AnswerFailure(`the active contracts at offset ${offset} are gone (${error.message})`, {
      cause: error,
    });
  }
}

/** All that is active at an offset, as imports. */
export async function* importsAt(
  seeding: Omit<Seeding, 'end' | 'progress' | 'participantId'> & { offset: number },
): AsyncGenerator<readonly SeedMessage[]> {
  const { client, streams, signal, ask, offset, eventFormat, migrationId } = seeding;
  const asked = { activeAtOffset: offset, eventFormat };
  const toImport = (created: CreatedEvent): SeedMessage => importOf(created, migrationId);
  try {
    for await (const page of pagedContracts(client, asked, ask)) yield page.map(toImport);
  } catch (error) {
    if (!(error instanceof NoPages)) throw error;
    for await (const page of streamedContracts(streams, asked, { signal, ask })) yield page.map(toImport);
  }
}

/**
 * The time of the end, of each synchronizer that the first checkpoint behind it names: that of a checkpoint at the end, or just before
 * its first update behind it. What is read for it is read again behind the mark.
 */
async function timeOf(seeding: Seeding): Promise<readonly SynchronizerTime[]> {
  const { streams, signal, end, eventFormat, migrationId } = seeding;
  const first = new Map<string, Micros>();
  const request = updatesRequest(end.offset, eventFormat);
  const { target, elements } = await streams.open('/v2/updates', { request, signal });
  for await (const batch of elements) {
    for (const bytes of batch) {
      const { decoded, offset } = elementOf(bytes, { target, migrationId });
      if (decoded?.kind === 'update' && decoded.recordTime !== null && !first.has(decoded.synchronizerId))
        first.set(decoded.synchronizerId, decoded.recordTime);
      if (decoded?.kind !== 'checkpoint' || decoded.times.length === 0) continue;
      if (offset === end.offset) return decoded.times;
      return decoded.times.map(({ synchronizerId, recordTime }) => {
        const before = first.get(synchronizerId);
        return { synchronizerId, recordTime: before === undefined ? recordTime : before - 1 };
      });
    }
  }
  throw new AnswerFailure(`${target}: the stream was closed before its first checkpoint`, { conduct: 'reconnect' });
}
