import { createPauses, type Pause, retry } from '../../retry.ts';
import { AnswerFailure, mayPass, RETRY_ANSWER } from '../network/failure.ts';
import type { JsonClient } from '../network/json-client.ts';
import type { SeedMessage } from '../network/seed.ts';
import { FeedRefused, type Message, type Source, type SourceContext, type SourceStart } from '../source.ts';
import type { Ask } from './active-contracts.ts';
import { createLedgerApiClient, type LedgerApiClient } from './client.ts';
import { IN_SEED, LANE, parseCursor } from './cursor.ts';
import { Filter, ROUNDS_LEFT_OUT } from './filter.ts';
import { identityOf, requireSame } from './identity.ts';
import { askLedgerEnd, askLocalParties, askParticipantId, askPrunedOffset, type LedgerEnd } from './participant.ts';
import { LedgerApiProgress, type LedgerApiTelemetry } from './progress.ts';
import { pastEnd, refusalOf } from './refusal.ts';
import { importsAt, type SeedAsked, seedMark, timeOf } from './seed.ts';
import { type LedgerApiSettings, ledgerApiName } from './settings.ts';
import { createTokens } from './tokens.ts';
import { elementOf, recordTimeOf, updatesRequest } from './updates.ts';
import { watchParticipant } from './watch.ts';

type Batches = AsyncGenerator<readonly Message[] | SourceStart>;

export interface LedgerApiSource extends Source<LedgerApiTelemetry> {
  /** All that is active at an offset, as imports. Throws AnswerFailure for what will not pass. */
  activeAt(offset: number, signal: AbortSignal): AsyncGenerator<readonly SeedMessage[]>;
}

/** What the views are told of a participant. */
interface Standing {
  readonly identity: string;
  readonly followed: readonly string[];
}

/**
 * The updates of a participant for the parties of the settings, over one stream that is opened again wherever it ends. Waits for
 * what may come back; throws FeedRefused for what will not.
 */
export function openLedgerApiSource(
  settings: LedgerApiSettings,
  { stored, reached, migrationId, logger }: SourceContext,
): LedgerApiSource {
  const { url, parties } = settings;
  const tokens = createTokens(settings, { logger });
  const filter = new Filter(parties);
  const known = stored.lanes.get(LANE)?.cursor ?? null;
  /** Behind the last message returned; null before the first of all, and before a seed's mark. */
  let at: number | null = known === null ? null : parseCursor(known);
  const progress = new LedgerApiProgress({ url, logger, stored: at });
  /** What the views hold of a participant, once they were told. */
  let begun: Standing | null = null;
  let number = 0;

  function messageOf(bytes: Buffer, cursor: string, more: Pick<Message, 'decoded'> = {}): Message {
    number += 1;
    return { lane: LANE, offset: number, cursor, bytes, ...more };
  }

  async function* batches(signal: AbortSignal): Batches {
    using client = createLedgerApiClient(settings, { tokens, signal });
    const pauses = createPauses(RETRY_ANSWER, { signal });
    let mayBeAtOnce = true;
    const answered = (): void => {
      pauses.afterSuccess();
      mayBeAtOnce = true;
    };
    try {
      while (!signal.aborted) {
        try {
          yield* readFrom(client, answered);
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof AnswerFailure)) throw error;
          const corrected = filter.correctedBy(error);
          if (corrected === 'without rounds') continue;
          const failure = corrected ?? error;
          const { conduct } = failure.about;
          if (conduct === 'stop') throw refusalOf(failure, { offset: at, parties });
          if (conduct === 'new token') tokens.refused();
          const isAtOnce = mayBeAtOnce && conduct !== 'back off';
          if (isAtOnce) mayBeAtOnce = false;
          else await pauses.afterFailure(failure, progress.failed);
        }
      }
    } finally {
      progress.stop(`${ledgerApiName(url)} is no longer read`);
    }
  }

  /** `answered`: called when something was received, so that the next failure is a first one again. */
  async function* readFrom(client: LedgerApiClient, answered: () => void): Batches {
    const participantId = await askParticipantId(client);
    progress.participant(participantId);
    // Of half a seed nothing is kept.
    const isSame = at !== null && requireSame(begun ?? stored, { participantId, parties });
    const followed = isSame ? (begun ?? stored).followed! : await partiesToFollow(client);
    const askedAt = Date.now();
    const end = await askLedgerEnd(client);
    if (at !== null && at > end.offset) throw pastEnd(at, `it ends at offset ${end.offset}`);
    progress.end(end.offset, askedAt);
    const standing = { identity: identityOf(participantId, parties), followed };
    if (at === null && reached === null && settings.start === 'snapshot' && end.offset > 0) {
      yield* seed(client, { ...standing, participantId, end });
    } else if (begun === null) {
      const from: number = at ?? (await firstOffset(client));
      yield { ...standing, cursors: new Map([[LANE, String(from)]]) };
      at = from;
      progress.stored(String(from));
    }
    begun = standing;
    yield* follow(client, followed, answered);
  }

  async function partiesToFollow(client: JsonClient): Promise<readonly string[]> {
    if (parties !== 'all') return [...new Set(parties)].sort();
    const local = await askLocalParties(client);
    if (local.length > 0) return local;
    throw new AnswerFailure(`${url}: has no local party yet: there is nobody to follow`);
  }

  /** Behind which its updates begin. */
  async function firstOffset(client: JsonClient): Promise<number> {
    const pruned = await askPrunedOffset(client);
    if (pruned === 0 || reached !== null) return pruned;
    throw new FeedRefused(
      `--start beginning: the participant has removed its updates up to offset ${pruned}: begin with --start snapshot, or with ` +
        'files that have them',
    );
  }

  async function* follow(client: LedgerApiClient, followed: readonly string[], answered: () => void): Batches {
    const degraded = filter.hasRounds ? [] : [ROUNDS_LEFT_OUT];
    using _ = watchParticipant(client, { progress, listed: parties === 'all' ? followed : null, degraded });
    const from = at!;
    const request = updatesRequest(from, filter.eventFormat);
    const onOpen = (): void => progress.following(from);
    const { target, elements, isRenewed } = await client.openStream('/v2/updates', request, onOpen);
    for await (const batch of elements) {
      const messages: Message[] = [];
      let failure: unknown = null;
      for (const bytes of batch) {
        try {
          const element = elementOf(bytes, { target, migrationId });
          const { offset, decoded } = element;
          if (offset !== null) at = Math.max(at!, offset);
          messages.push(messageOf(bytes, String(at), decoded && { decoded }));
          progress.read(at!, recordTimeOf(element));
        } catch (error) {
          failure = error;
          break;
        }
      }
      if (messages.length > 0) {
        answered();
        yield messages;
      }
      if (failure !== null) throw failure;
    }
    if (!isRenewed() && !client.signal.aborted)
      throw new AnswerFailure(`${target}: the stream was closed`, { conduct: 'reconnect' });
  }

  /** Steps that may pass are tried again. */
  function askedFor(client: LedgerApiClient, offset: number): SeedAsked {
    const onFailure = (pause: Pause): void => {
      if (mayPass(pause.error) && pause.error.about.conduct === 'new token') tokens.refused();
      progress.failed(pause);
    };
    const ask: Ask = (step) => retry(RETRY_ANSWER, step, { signal: client.signal, onFailure });
    return { client, ask, offset, eventFormat: filter.eventFormat, migrationId };
  }

  async function* activeAt(offset: number, signal: AbortSignal): AsyncGenerator<readonly SeedMessage[]> {
    using client = createLedgerApiClient(settings, { tokens, signal });
    yield* importsAt(askedFor(client, offset));
  }

  /** All that is active at the end of the ledger; its mark is the last message, once the time of that end is known. */
  async function* seed(
    client: LedgerApiClient,
    { end, participantId, ...standing }: Standing & { end: LedgerEnd; participantId: string },
  ): Batches {
    yield { ...standing, cursors: new Map([[LANE, IN_SEED]]), anew: true };
    const { offset } = end;
    const asked = askedFor(client, offset);
    let contracts = 0;
    progress.seeding(contracts, offset);
    try {
      for await (const page of importsAt(asked)) {
        contracts += page.length;
        progress.seeding(contracts, offset);
        yield page.map(({ bytes, ...more }) => messageOf(bytes, IN_SEED, more));
      }
      if (end.times === null) progress.awaitingTime(offset);
      const times = end.times ?? (await asked.ask(() => timeOf(asked)));
      // A mark says that nothing is missing.
      client.signal.throwIfAborted();
      at = offset;
      yield [messageOf(seedMark(times, { migrationId, offset, participantId, url }), String(offset))];
    } catch (error) {
      // Another end can be read.
      if (!(error instanceof AnswerFailure) || error.about.code !== 'PARTICIPANT_PRUNED_DATA_ACCESSED') throw error;
      const gone = `the active contracts at offset ${offset} are gone (${error.message})`;
      throw new AnswerFailure(gone, { cause: error });
    }
  }

  return {
    batches,
    progress: () => ({ read: number, total: null }),
    stored: (cursors) => progress.stored(cursors.get(LANE) ?? null),
    telemetry: () => progress.telemetry,
    activeAt,
  };
}
