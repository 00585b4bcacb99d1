import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { retry } from '../../retry.ts';
import { AnswerFailure, isPassing, type JsonClient, RETRY_ANSWER, TEXT } from '../network/json-client.ts';
import { NetworkProgress, type NetworkTelemetry } from '../network/network-progress.ts';
import type { ScanSettings } from '../network/network-settings.ts';
import { IN_IMPORT, importMarker, LANE } from '../network/snapshot-import.ts';
import { FeedRefused, type Message, type Source, type SourceContext, type SourceStart } from '../source.ts';
import { FailOver } from './fail-over.ts';
import { askMigrationId, createScanClient, requireBeginning, requireMigration } from './scan-client.ts';
import { askSnapshot, ImportCheck, importsAt, mayReturn } from './scan-import.ts';
import { AT_START, earlierOf, isAfter, laterOf, parseToken, type ScanPosition, tokenOf } from './scan-position.ts';
import type { ScanUpdate } from './update-pages.ts';
import { UpdatesReader } from './updates-reader.ts';

/** A lane without messages: its resume token is what the supply of the import differs by, so that it is said after a restart too. */
const SUPPLY_LANE = 'supply';
/** In the middle of a snapshot import, for how long to try a Scan again where there is another one. */
const SAME_SCAN_FOR_MS = 60_000;
/** For how long to ask for the supply of a snapshot import, which is advice only. */
const SUPPLY_FOR_MS = 5_000;

type Batches = AsyncGenerator<readonly Message[] | SourceStart>;

/**
 * The updates of a network, as its Scans give them: one is read, and where it fails the next. Positions are the ledger's own, so
 * it continues after what any source has brought. Waits for what may come back; throws FeedRefused for what will not.
 */
export function openScanSource(settings: ScanSettings, context: SourceContext): Source<NetworkTelemetry> {
  const { urls, pageSize, pollIntervalMs } = settings;
  const { stored, reached, furthest } = context;
  const progress = new NetworkProgress('network', context, {
    stopped: `connecting to ${urls.join(', ')}`,
    figures: { scan: '', contradiction: null, scans_left: {} },
  });
  const supplyDifference = stored.lanes.get(SUPPLY_LANE)?.resumeToken;
  if (supplyDifference !== undefined) progress.degrade([supplyDifference]);
  const known = parseToken(stored.lanes.get(LANE)?.resumeToken);
  /** After the last message returned; null before the first update of all, and before an import marker. */
  let at: ScanPosition | null = known && furthest && earlierOf(known, furthest);
  // Files may have begun a later migration: this one is read to its end before it.
  if (at === null || reached?.migrationId === at.migrationId) at = laterOf(at, reached);
  /** Up to here nothing is missed whatever comes: a bad message has a position too, and its time may be any. */
  let begun = at;
  let good = furthest;
  /** The last update that any Scan has shown, or that is applied. */
  let shownBefore = context.lastUpdate ?? null;
  let network: string | null = null;
  /** A reader remembers what its Scan has refused while others are asked. */
  const readers = new Map<JsonClient, UpdatesReader>();

  const applied = (): ScanPosition | null => laterOf(good, begun);

  async function* batches(signal: AbortSignal): Batches {
    const clients = urls.map((url) => createScanClient(url, { ca: settings.ca, signal }));
    const failOver = new FailOver(clients, settings, progress);
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
      progress.stop(`Scan ${urls.join(', ')} is no longer read`);
    }
  }

  async function* readFrom(client: JsonClient, failOver: FailOver): Batches {
    const { dso_party_id: dso } = await client.ask('/v0/dso-party-id', z.object({ dso_party_id: TEXT }));
    const identity = `the network of ${dso}`;
    if (network !== null && network !== identity)
      throw new FeedRefused(`${client.url} is of ${identity}, and the other Scans are of ${network}`);
    if (at === null && settings.start === 'snapshot') yield* snapshotImport(client, { dso, identity });
    else if (network === null) {
      if (at === null) await requireBeginning(client);
      yield { identity, resumeTokens: new Map([[LANE, tokenAt()]]), dso, takesOver: true };
    }
    network = identity;
    if (at !== null) await requireMigration(client, at.migrationId);
    const reader = readerFrom(earlierOf(at, applied()), client);
    let contradiction: string | null = null;
    while (!client.signal.aborted) {
      const { updates, isEnd, shown, askedAt } = await reader.next();
      failOver.answered();
      const entered = enteredMigration(updates, laterOf(at, reached));
      const messages = updates.slice(0, entered?.from).map((update) => {
        at = laterOf(at, update.upTo);
        shownBefore = laterOf(shownBefore, update.upTo);
        return progress.messageOf(update, tokenAt());
      });
      const before = contradiction;
      const read = shownBefore && earlierOf(shownBefore, applied());
      contradiction = isEnd ? await failOver.contradiction({ shown, read }) : null;
      const isNew = contradiction !== null && before === null;
      if (messages.length > 0 || isEnd) pageRead(askedAt, { isEnd: isEnd && contradiction === null, contradiction });
      if (isNew) progress.log('warn', contradiction!);
      if (messages.length > 0) yield messages;
      if (entered !== null) throw entered.refusal;
      // What another Scan has may be there by now.
      if (isEnd && !isNew) await sleep(pollIntervalMs, undefined, { signal: client.signal }).catch(() => {});
    }
  }

  const tokenAt = (): string => (at === null ? AT_START : tokenOf(at));

  function pageRead(askedAt: number, { isEnd, contradiction }: { isEnd: boolean; contradiction: string | null }): void {
    const position = at;
    progress.show({ contradiction });
    progress.advance(position?.recordTime ?? null, { at: askedAt, isEnd });
    if (!isEnd) return;
    progress.end(askedAt, (token) => {
      if (position === null) return token !== IN_IMPORT;
      const known = parseToken(token);
      return known !== null && !isAfter(position, known);
    });
  }

  function readerFrom(from: ScanPosition | null, client: JsonClient): UpdatesReader {
    const known = readers.get(client);
    const reader = known?.isAt(from) === true ? known : new UpdatesReader(client, { from, pageSize, applied });
    readers.set(client, reader);
    return reader;
  }

  /** All of a snapshot, compared with what its Scan says of it, and only then its marker. */
  async function* snapshotImport(
    client: JsonClient,
    { dso, identity }: { readonly dso: string; readonly identity: string },
  ): Batches {
    const snapshot = await askSnapshot(client, await askMigrationId(client));
    const { text, migrationId } = snapshot;
    yield { identity, resumeTokens: new Map([[LANE, IN_IMPORT]]), dso, restarts: true };
    const check = new ImportCheck(dso);
    const isSoon = (error: unknown): boolean => isPassing(error) && (error.about.retryAfterMs ?? 0) < SAME_SCAN_FOR_MS;
    const policy = urls.length > 1 ? { ...RETRY_ANSWER, forMsMax: SAME_SCAN_FOR_MS, passes: isSoon } : RETRY_ANSWER;
    const options = { signal: client.signal, onFailure: progress.failed };
    const ask = <T>(step: () => Promise<T>): Promise<T> => retry(policy, step, options);
    for await (const page of importsAt(client, snapshot, { pageSize, check, ask })) {
      progress.importing(check.contracts, `of ${text}`);
      yield page.map((each) => progress.messageOf(each, IN_IMPORT));
    }
    await ask(() => check.compareOwners(client, snapshot)).catch((error: unknown) => {
      throw mayReturn(error, `the summary of ${text} is gone`);
    });
    const supplyPolicy = { ...RETRY_ANSWER, forMsMax: SUPPLY_FOR_MS };
    const difference = await retry(supplyPolicy, () => check.supplyDifference(client, snapshot), options).catch(
      (error: unknown) => {
        // The supply is at another address of the host, which may not be open to us.
        if (!(error instanceof AnswerFailure)) throw error;
        return `the supply of the snapshot import could not be compared: ${error.message}`;
      },
    );
    progress.degrade(difference === null ? [] : [difference]);
    progress.imported(null);
    if (difference !== null) yield { identity, resumeTokens: new Map([[SUPPLY_LANE, difference]]) };
    at = snapshot;
    begun = snapshot;
    const marker = importMarker({ migrationId, recordTime: text, times: [], source: `scan ${client.url}` });
    yield [progress.messageOf(marker, tokenOf(snapshot))];
  }

  return {
    batches,
    ...progress.reports,
    stored(tokens, applied = null) {
      good = applied;
      progress.stored(tokens.get(LANE) ?? null);
    },
  };
}

/** Where updates go on in a later migration; null where they do not. A Scan gives no imports with its updates. */
function enteredMigration(
  updates: readonly ScanUpdate[],
  after: ScanPosition | null,
): { readonly from: number; readonly refusal: FeedRefused } | null {
  const known = after?.migrationId ?? 0;
  const from = updates.findIndex(({ at }) => at !== null && at.migrationId > known);
  if (from === -1) return null;
  const refusal = new FeedRefused(
    `the network goes on in migration ${updates[from]!.at!.migrationId}, and a Scan does not give what was carried over into it: ` +
      'begin a new --data directory with --start snapshot, or with files that have its imports and first updates',
  );
  return { from, refusal };
}
