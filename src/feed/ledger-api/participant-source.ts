import { z } from 'zod';
import { formatTime } from '../../ledger/time.ts';
import { createPauses, type Pause, retry } from '../../retry.ts';
import { AnswerFailure, COUNT, isPassing, type JsonClient, RETRY_ANSWER, TEXT } from '../network/json-client.ts';
import { NetworkProgress, type NetworkTelemetry } from '../network/network-progress.ts';
import type { LedgerApiSettings } from '../network/network-settings.ts';
import { type ImportMessage, IN_IMPORT, importMarker, LANE } from '../network/snapshot-import.ts';
import { FeedRefused, type Message, type Source, type SourceContext, type SourceStart } from '../source.ts';
import { degradedBy, identityOf, requireSame } from './followed-parties.ts';
import { createTokens } from './oauth-tokens.ts';
import {
  askLedgerEnd,
  askLocalParties,
  createLedgerApiClient,
  type LedgerApiClient,
  type LedgerEnd,
} from './participant-client.ts';
import { PRUNED, pastEnd, refusalOf } from './participant-errors.ts';
import { type ImportAsked, importsAt, knownImportsAt, timesOfEnd } from './participant-import.ts';
import { elementOf, Filter, ROUNDS_LEFT_OUT, recordTimeOf } from './participant-updates.ts';

/** How often the participant's end is asked for, which says how far behind we are, and how often its parties are. */
const END_INTERVAL_MS = 10_000;
const PARTIES_INTERVAL_MS = 600_000;

type Batches = AsyncGenerator<readonly Message[] | SourceStart>;

export interface LedgerApiSource extends Source<NetworkTelemetry> {
  /** All that is active at an offset, as imports. Throws AnswerFailure for what will not pass. */
  activeAt(offset: number, signal: AbortSignal): AsyncGenerator<readonly ImportMessage[]>;
}

/** What is stored of a participant, besides the offset. */
interface Followed {
  readonly identity: string;
  readonly followed: readonly string[];
}

/** The updates of a participant for some parties, over a stream that is opened again. Throws FeedRefused for what will not come back. */
export function openLedgerApiSource(settings: LedgerApiSettings, context: SourceContext): LedgerApiSource {
  const { stored, reached, migrationId } = context;
  const { url, parties } = settings;
  const tokens = createTokens(settings, context.logger);
  // What is stored counts: a setting against it is refused where the directory is opened.
  const isCounted = stored.tokens ?? settings.tokens;
  const filter = new Filter({ parties, tokens: isCounted }, (text) => context.logger.warn({ url }, text));
  /** Behind the last message returned; null before the first of all, and before an import marker. */
  let at = offsetOf(stored.lanes.get(LANE)?.resumeToken);
  const progress = new NetworkProgress('participant', context, {
    stopped: `connecting to ${url}`,
    figures: { url, participant: null, ledger_end: null },
  });
  let ledgerEnd = Infinity;
  /** Once its start was returned. */
  let begun: Followed | null = null;

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
          if (corrected === 'left out') continue;
          const failure = corrected ?? error;
          const { conduct } = failure.about;
          if (conduct === 'stop') throw refusalOf(failure, { offset: at, parties });
          if (conduct === 'new token') tokens.refused();
          if (mayBeAtOnce && conduct !== 'back off') mayBeAtOnce = false;
          else await pauses.afterFailure(failure, progress.failed);
          filter.connecting();
        }
      }
    } finally {
      progress.stop(`Ledger API ${url} is no longer read`);
    }
  }

  /** `answered`: called when something was received, so that the next failure is a first one again. */
  async function* readFrom(client: LedgerApiClient, answered: () => void): Batches {
    const participant = z.object({ participantId: TEXT });
    const { participantId } = await client.ask('/v2/parties/participant-id', participant);
    progress.show({ participant: participantId });
    const isSame = at !== null && requireSame(begun ?? stored, { participantId, parties });
    const followed = isSame ? (begun ?? stored).followed! : await partiesToFollow(client);
    const askedAt = Date.now();
    const end = await askLedgerEnd(client);
    if (at !== null && at > end.offset) throw pastEnd(at, `it ends at offset ${end.offset}`);
    const start = { identity: identityOf(participantId, parties), followed };
    if (at === null && reached === null && settings.start === 'snapshot' && end.offset > 0) {
      yield* snapshotImport(client, { ...start, participantId, end });
    } else if (begun === null) {
      const from: number = at ?? (await firstOffset(client));
      yield { ...start, resumeTokens: new Map([[LANE, String(from)]]) };
      at = from;
      progress.stored(String(from));
    }
    begun = start;
    endIs(end.offset, askedAt);
    yield* follow(client, followed, answered);
  }

  function endIs(offset: number, askedAt: number): void {
    ledgerEnd = offset;
    progress.show({ ledger_end: offset });
    progress.end(askedAt, (token) => (offsetOf(token) ?? -1) >= offset);
  }

  async function partiesToFollow(client: JsonClient): Promise<readonly string[]> {
    if (parties !== 'all') return [...new Set(parties)].sort();
    const local = await askLocalParties(client);
    if (local.length > 0) return local;
    throw new AnswerFailure(`${url}: has no local party yet: there is nobody to follow`);
  }

  /** Behind which its updates begin. */
  async function firstOffset(client: JsonClient): Promise<number> {
    const offsets = z.object({ participantPrunedUpToInclusive: COUNT });
    const { participantPrunedUpToInclusive: pruned } = await client.ask('/v2/state/latest-pruned-offsets', offsets);
    if (pruned === 0 || reached !== null) return pruned;
    throw new FeedRefused(
      `--start beginning: the participant has removed its updates up to offset ${pruned}: begin with --start snapshot, or with ` +
        'files that have them',
    );
  }

  async function* follow(client: LedgerApiClient, followed: readonly string[], answered: () => void): Batches {
    using _ = watch(client, followed);
    const onOpen = (): void => progress.answered({ stopped: null });
    for await (const batch of client.updates(at!, filter.eventFormat, onOpen)) {
      const messages: Message[] = [];
      let failure: unknown = null;
      for (const bytes of batch) {
        try {
          const element = elementOf(bytes, { url, migrationId });
          if (element.offset !== null) at = Math.max(at!, element.offset);
          messages.push(progress.messageOf(element, String(at)));
          const recordTime = recordTimeOf(element) ?? progress.telemetry.newestRecordTime;
          progress.advance(recordTime, { at: Date.now(), isEnd: at! >= ledgerEnd });
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
    if (!client.signal.aborted)
      throw new AnswerFailure(`${url}: the stream of updates was closed`, { conduct: 'reconnect' });
  }

  /** Asks the participant small questions while its stream is read; a failure is asked again later, and the stream says why. */
  function watch(client: JsonClient, followed: readonly string[]): Disposable {
    const degraded = filter.hasRounds ? [] : [ROUNDS_LEFT_OUT];
    async function askEnd(): Promise<void> {
      const askedAt = Date.now();
      const end = await askLedgerEnd(client).catch(() => null);
      if (end !== null) endIs(end.offset, askedAt);
    }
    async function askParties(): Promise<void> {
      const found = await askLocalParties(client).then(
        (local) => degradedBy(local, followed),
        (error: Error) => [`the local parties cannot be listed, and a later one is not noticed: ${error.message}`],
      );
      progress.degrade([...degraded, ...found]);
    }
    progress.degrade(degraded);
    const timers = [setInterval(() => void askEnd(), END_INTERVAL_MS)];
    if (parties === 'all') {
      timers.push(setInterval(() => void askParties(), PARTIES_INTERVAL_MS));
      void askParties();
    }
    return { [Symbol.dispose]: () => timers.forEach(clearInterval) };
  }

  function askedFor(client: LedgerApiClient, offset: number): ImportAsked {
    const onFailure = (pause: Pause): void => {
      if (isPassing(pause.error) && pause.error.about.conduct === 'new token') tokens.refused();
      progress.failed(pause);
    };
    const ask: ImportAsked['ask'] = (step) => retry(RETRY_ANSWER, step, { signal: client.signal, onFailure });
    return { client, ask, offset, eventFormat: filter.eventFormat, migrationId };
  }

  async function* activeAt(offset: number, signal: AbortSignal): AsyncGenerator<readonly ImportMessage[]> {
    using client = createLedgerApiClient(settings, { tokens, signal });
    yield* knownImportsAt(askedFor(client, offset), filter);
  }

  /** All that is active at the end of the ledger; its marker is the last message, once the time of that end is known. */
  async function* snapshotImport(
    client: LedgerApiClient,
    { end, participantId, ...start }: Followed & { end: LedgerEnd; participantId: string },
  ): Batches {
    yield { ...start, resumeTokens: new Map([[LANE, IN_IMPORT]]), restarts: true };
    const { offset } = end;
    const asked = askedFor(client, offset);
    let contracts = 0;
    progress.importing(contracts, `at offset ${offset}`);
    try {
      for await (const page of importsAt(asked)) {
        contracts += page.length;
        progress.importing(contracts, `at offset ${offset}`);
        yield page.map((each) => progress.messageOf(each, IN_IMPORT));
      }
      const waiting = `waiting for the time of offset ${offset}, which the first checkpoint behind it will say`;
      progress.imported(end.synchronizerTimes === null ? waiting : null);
      const times = end.synchronizerTimes ?? (await asked.ask(() => timesOfEnd(asked)));
      // A marker says that nothing is missing.
      client.signal.throwIfAborted();
      at = offset;
      const recordTime = formatTime(Math.max(...times.map((each) => each.recordTime)));
      const ofEnd = { offset, participant_id: participantId };
      const source = `ledger api ${url}`;
      const marker = importMarker({ migrationId, recordTime, times, end: ofEnd, source });
      yield [progress.messageOf(marker, String(offset))];
    } catch (error) {
      // A later end can be read.
      if (!(error instanceof AnswerFailure) || error.about.code !== PRUNED) throw error;
      const gone = `the active contracts at offset ${offset} are gone (${error.message})`;
      throw new AnswerFailure(gone, { cause: error });
    }
  }

  return {
    batches,
    ...progress.reports,
    stored: (tokens) => progress.stored(tokens.get(LANE) ?? null),
    activeAt,
  };
}

/** Null where there is no resume token, or one within a snapshot import. */
function offsetOf(token: string | null = null): number | null {
  if (token === null || token === IN_IMPORT) return null;
  if (!/^\d{1,16}$/.test(token)) throw new Error(`the stored resume token of a participant is not valid: ${token}`);
  return Number(token);
}
