import { createPauses, retry } from '../../retry.ts';
import { AnswerFailure, mayPass, RETRY_ANSWER } from '../network/failure.ts';
import type { JsonClient } from '../network/json-client.ts';
import { FeedRefused, type Message, type Source, type SourceContext, type SourceStart } from '../source.ts';
import type { Ask } from './active-contracts.ts';
import { createLedgerApiClient } from './client.ts';
import { IN_SEED, LANE, parseCursor } from './cursor.ts';
import { Filter, ROUNDS_LEFT_OUT } from './filter.ts';
import { identityOf, requireSame, some, without } from './identity.ts';
import { askLedgerEnd, askLocalParties, askParticipantId, askPrunedOffset, type LedgerEnd } from './participant.ts';
import { LedgerApiProgress } from './progress.ts';
import { pastEnd, refusalOf } from './refusal.ts';
import type { SeedMessage } from './seed.ts';
import { importsAt, readSeed } from './seeding.ts';
import { type LedgerApiSettings, ledgerApiName } from './settings.ts';
import type { LedgerApiTelemetry } from './status.ts';
import { createStreams, type Streams } from './streams.ts';
import { createTokens } from './token-source.ts';
import { elementOf, recordTimeOf, updatesRequest } from './updates.ts';
import { watchParticipant } from './watch.ts';

type Batches = AsyncGenerator<readonly Message[] | SourceStart>;

export interface LedgerApiSource extends Source<LedgerApiTelemetry> {
  /** All that is active at an offset, as imports. Throws AnswerFailure for what will not pass. */
  activeAt(offset: number, signal: AbortSignal): AsyncGenerator<readonly SeedMessage[]>;
}

interface Reading {
  readonly client: JsonClient;
  readonly streams: Streams;
  readonly signal: AbortSignal;
  /** Called when something was received: the next failure is a first one again. */
  readonly answered: () => void;
}

/**
 * The updates of a participant for the parties of the settings, over one stream that is opened again wherever it ends. Waits for
 * what may come back; throws FeedRefused for what will not.
 */
export function openLedgerApiSource(
  settings: LedgerApiSettings,
  { stored, reached, migrationId, logger }: SourceContext,
): LedgerApiSource {
  const { url, ca, parties } = settings;
  const tokens = createTokens(settings, { logger });
  const filter = new Filter(parties);
  const known = stored.lanes.get(LANE)?.cursor ?? null;
  /** Behind the last message returned; null before the first of all, and before a seed's mark. */
  let at: number | null = known === null ? null : parseCursor(known);
  const progress = new LedgerApiProgress({ url, logger, stored: at });
  /** What the views hold of a participant, once they were told. */
  let begun: { readonly identity: string; readonly followed: readonly string[] } | null = null;
  let number = 0;

  function messageOf(bytes: Buffer, cursor: string, more: Pick<Message, 'decoded'> = {}): Message {
    number += 1;
    return { lane: LANE, offset: number, cursor, bytes, ...more };
  }

  async function* batches(signal: AbortSignal): Batches {
    using client = createLedgerApiClient(url, { ca, tokens, signal });
    const streams = createStreams(url, { ca, tokens });
    const pauses = createPauses(RETRY_ANSWER, { signal });
    let mayBeAtOnce = true;
    const answered = (): void => {
      pauses.afterSuccess();
      mayBeAtOnce = true;
    };
    try {
      while (!signal.aborted) {
        try {
          yield* readFrom({ client, streams, signal, answered });
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

  async function* readFrom(reading: Reading): Batches {
    const { client } = reading;
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
      yield* seed(reading, { ...standing, participantId, end });
    } else if (begun === null) {
      const from: number = at ?? (await firstOffset(client));
      yield { ...standing, cursors: new Map([[LANE, String(from)]]) };
      at = from;
      progress.stored(String(from));
    }
    begun = standing;
    yield* follow(reading, standing.followed);
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

  async function* follow({ streams, client, signal, answered }: Reading, followed: readonly string[]): Batches {
    using _ = watchParticipant(client, {
      onEnd: (offset, askedAt) => progress.end(offset, askedAt),
      ...(parties === 'all' && { onParties: (local) => progress.degraded(degradedBy(local, followed)) }),
    });
    progress.degraded(degradedBy(followed, followed));
    const from = at!;
    const request = updatesRequest(from, filter.eventFormat);
    const { target, elements, isRenewed } = await streams.open('/v2/updates', {
      request,
      signal,
      onOpen: () => progress.following(from),
    });
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
    if (!isRenewed() && !signal.aborted)
      throw new AnswerFailure(`${target}: the stream was closed`, { conduct: 'reconnect' });
  }

  /** What an operator should know of this participant. */
  function degradedBy(local: readonly string[] | Error, followed: readonly string[]): readonly string[] {
    const rounds = filter.hasRounds ? [] : [ROUNDS_LEFT_OUT];
    if (local instanceof Error)
      return [
        ...rounds,
        `the local parties cannot be listed, and one that comes later is not noticed: ${local.message}`,
      ];
    const [later, gone] = [without(local, followed), without(followed, local)];
    const came = `${some(later)} came to the participant later and is not followed: a new --data directory follows it too`;
    const went = `${some(gone)} is followed and no longer local to the participant: what becomes of its coins is not read`;
    return [...rounds, ...(later.length > 0 ? [came] : []), ...(gone.length > 0 ? [went] : [])];
  }

  /** Tries steps again that may pass. */
  function askIn(signal: AbortSignal): Ask {
    return (step) =>
      retry(RETRY_ANSWER, step, {
        signal,
        onFailure: (pause) => {
          if (mayPass(pause.error) && pause.error.about.conduct === 'new token') tokens.refused();
          progress.failed(pause);
        },
      });
  }

  async function* activeAt(offset: number, signal: AbortSignal): AsyncGenerator<readonly SeedMessage[]> {
    using client = createLedgerApiClient(url, { ca, tokens, signal });
    const streams = createStreams(url, { ca, tokens });
    const { eventFormat } = filter;
    yield* importsAt({ client, streams, signal, ask: askIn(signal), offset, eventFormat, migrationId });
  }

  async function* seed(
    { client, streams, signal }: Reading,
    {
      end,
      participantId,
      ...standing
    }: { end: LedgerEnd; participantId: string; identity: string; followed: readonly string[] },
  ): Batches {
    yield { ...standing, cursors: new Map([[LANE, IN_SEED]]), anew: true };
    const ask = askIn(signal);
    const { eventFormat } = filter;
    const seeding = { client, streams, signal, ask, progress, end, eventFormat, migrationId, participantId };
    let last: readonly SeedMessage[] = [];
    for await (const page of readSeed(seeding)) {
      if (last.length > 0) yield last.map(({ bytes, ...more }) => messageOf(bytes, IN_SEED, more));
      last = page;
    }
    at = end.offset;
    yield last.map(({ bytes, ...more }) => messageOf(bytes, String(end.offset), more));
  }

  return {
    name: ledgerApiName(url),
    batches,
    progress: () => ({ read: number, total: null }),
    stored: (cursors) => progress.stored(cursors.get(LANE) ?? null),
    telemetry: () => progress.telemetry,
    activeAt,
  };
}
