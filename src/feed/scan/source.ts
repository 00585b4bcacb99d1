import { setTimeout as sleep } from 'node:timers/promises';
import { retry } from '../../retry.ts';
import { AnswerFailure, mayPass, RETRY_ANSWER } from '../network/failure.ts';
import type { JsonClient } from '../network/json-client.ts';
import { FeedRefused, type Message, type Source, type SourceContext, type SourceStart } from '../source.ts';
import { createScanClient } from './client.ts';
import {
  AT_START,
  cursorText,
  earlierOf,
  IN_SEED,
  LANE,
  laterOf,
  parseCursor,
  type ScanCursor,
  SUPPLY,
} from './cursor.ts';
import { FailOver } from './fail-over.ts';
import { askDso, askMigrationId, enteredMigration, identityOf, requireBeginning, requireMigration } from './network.ts';
import { ScanProgress, type ScanTelemetry } from './progress.ts';
import { UpdatesReader } from './reader.ts';
import { askSeedPlace, mayCome, seedMark, seedPages } from './seed.ts';
import { SeedCheck } from './seed-check.ts';
import { type ScanSettings, scanName } from './settings.ts';

/** In the middle of a seed, for how long to try a Scan again where there is another one. */
const SAME_SCAN_FOR_MS = 60_000;
/** For how long to ask for the supply of a seed, which is advice only. */
const SUPPLY_FOR_MS = 5_000;

type Batches = AsyncGenerator<readonly Message[] | SourceStart>;

/**
 * The updates of a network, as its Scans give them: one is read, and where it fails the next. Positions are the ledger's own, so
 * it continues after what any source has brought. Waits for what may come back; throws FeedRefused for what will not.
 */
export function openScanSource(
  settings: ScanSettings,
  { stored, reached, furthest, lastUpdate = null, logger }: SourceContext,
): Source<ScanTelemetry> {
  const { urls, pageSize, pollIntervalMs, readyLagMaxMs } = settings;
  const known = stored.lanes.get(LANE)?.cursor ?? null;
  const progress = new ScanProgress({ urls, logger, stored: known, supply: stored.lanes.get(SUPPLY)?.cursor ?? null });
  const cursor = known === null ? null : parseCursor(known);
  /** After the last message returned; null before the first update of all, and before a seed's mark. */
  let at: ScanCursor | null = cursor && furthest && earlierOf(cursor, furthest);
  // Files may have begun a later migration: this one is read to its end before it.
  if (at === null || reached?.migrationId === at.migrationId) at = laterOf(at, reached);
  /** Up to here nothing is missed whatever comes: a bad message has a cursor too, and its time may be any. */
  let begun = at;
  let good = furthest;
  /** The last update that any Scan has shown, or that is applied. */
  let shownBefore: ScanCursor | null = lastUpdate;
  let network: string | null = null;
  let number = 0;
  /** What a Scan has refused is remembered while others are asked. */
  const readers = new Map<JsonClient, UpdatesReader>();

  function messageOf(bytes: Buffer, cursor: string, more: Pick<Message, 'decoded'> = {}): Message {
    number += 1;
    return { lane: LANE, offset: number, cursor, bytes, ...more };
  }

  const applied = (): ScanCursor | null => laterOf(good, begun);

  async function* batches(signal: AbortSignal): Batches {
    const clients = urls.map((url) => createScanClient(url, { ca: settings.ca, signal }));
    const failOver = new FailOver(clients, readyLagMaxMs, progress);
    try {
      while (!signal.aborted) {
        const client = await failOver.choose();
        try {
          if (!signal.aborted) yield* readFrom(client, failOver);
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof AnswerFailure)) throw error;
          await failOver.failed(error);
        }
      }
    } finally {
      for (const client of clients) client[Symbol.dispose]();
      progress.stop(`${scanName(urls)} is no longer read`);
    }
  }

  async function* readFrom(client: JsonClient, failOver: FailOver): Batches {
    progress.begin(client.url);
    const dso = await askDso(client);
    const identity = identityOf(dso);
    if (network !== null && network !== identity)
      throw new FeedRefused(`${client.url} is of ${identity}, and the other Scans are of ${network}`);
    if (at === null && settings.start === 'snapshot') yield* seed(client, dso);
    else if (network === null) {
      if (at === null) await requireBeginning(client);
      const cursors = new Map([[LANE, at === null ? AT_START : cursorText(at)]]);
      yield { identity, cursors, dso, takesOver: true };
    }
    network = identity;
    if (at !== null) await requireMigration(client, at.migrationId);
    const reader = readerFrom(earlierOf(at, applied()), client);
    let contradiction: string | null = null;
    while (!client.signal.aborted) {
      const { updates, isEnd, shown, askedAt } = await reader.next(client);
      failOver.answered();
      const entered = enteredMigration(updates, laterOf(at, reached));
      const messages = updates.slice(0, entered?.from).map(({ bytes, upTo, decoded }) => {
        at = laterOf(at, upTo);
        shownBefore = laterOf(shownBefore, upTo);
        return messageOf(bytes, at === null ? AT_START : cursorText(at), decoded && { decoded });
      });
      const before = contradiction;
      const read = shownBefore && earlierOf(shownBefore, applied());
      contradiction = isEnd ? await failOver.contradiction({ shown, read }) : null;
      if (messages.length > 0 || isEnd) progress.page({ place: at, isEnd, contradiction, askedAt });
      if (messages.length > 0) yield messages;
      if (entered !== null) throw entered.refusal;
      // What another Scan has may be there by now.
      const isNew = contradiction !== null && before === null;
      if (isEnd && !isNew) await sleep(pollIntervalMs, undefined, { signal: client.signal }).catch(() => {});
    }
  }

  function readerFrom(from: ScanCursor | null, client: JsonClient): UpdatesReader {
    const known = readers.get(client);
    const reader = known?.isAt(from) === true ? known : new UpdatesReader({ from, pageSize, applied });
    readers.set(client, reader);
    return reader;
  }

  /** All of a snapshot, compared with what its Scan says of it, and only then its mark. */
  async function* seed(client: JsonClient, dso: string): Batches {
    const migrationId = await askMigrationId(client);
    const place = await askSeedPlace(client, migrationId);
    yield { identity: identityOf(dso), cursors: new Map([[LANE, IN_SEED]]), dso, anew: true };
    const check = new SeedCheck(dso);
    const isSoon = (error: unknown): boolean => mayPass(error) && (error.about.retryAfterMs ?? 0) < SAME_SCAN_FOR_MS;
    const policy = urls.length > 1 ? { ...RETRY_ANSWER, forMsMax: SAME_SCAN_FOR_MS, passes: isSoon } : RETRY_ANSWER;
    const options = { signal: client.signal, onFailure: progress.failed };
    const ask = <T>(step: () => Promise<T>): Promise<T> => retry(policy, step, options);
    for await (const page of seedPages(client, place, { pageSize, check, ask })) {
      progress.seeding(check.contracts, place.text);
      yield page.map(({ bytes, ...more }) => messageOf(bytes, IN_SEED, more));
    }
    await ask(() => check.compareOwners(client, place)).catch((error: unknown) => {
      throw mayCome(error, `the summary of ${place.text} is gone`);
    });
    const supplyPolicy = { ...RETRY_ANSWER, forMsMax: SUPPLY_FOR_MS };
    const supply = (): Promise<string | null> => check.supplyDifference(client, place);
    const difference = await retry(supplyPolicy, supply, options).catch(unanswered);
    progress.seeded(difference, place.text);
    if (difference !== null) yield { identity: identityOf(dso), cursors: new Map([[SUPPLY, difference]]) };
    at = place;
    begun = place;
    yield [messageOf(seedMark(client, place), cursorText(place))];
  }

  return {
    batches,
    progress: () => ({ read: number, total: null }),
    stored(cursors, applied = null) {
      good = applied;
      progress.stored(cursors.get(LANE) ?? null);
    },
    telemetry: () => progress.telemetry,
  };
}

/** The supply is at another address of the host, which may not be open to us. */
function unanswered(error: unknown): string {
  if (!(error instanceof AnswerFailure)) throw error;
  return `the supply of the seed could not be compared: ${error.message}`;
}
