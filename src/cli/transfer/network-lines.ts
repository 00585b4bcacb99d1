import type { Logger } from 'pino';
import type { Config } from '../../config/load-config.ts';
import { tryDecode } from '../../decode/decode-message.ts';
import { OwnEvents } from '../../feed/ledger-api/followed-parties.ts';
import { openLedgerApiSource } from '../../feed/ledger-api/participant-source.ts';
import { AnswerFailure } from '../../feed/network/json-client.ts';
import { IN_IMPORT, LANE } from '../../feed/network/snapshot-import.ts';
import { dsosOf, lastPosition, laterOf, type ScanPosition, tokenOf } from '../../feed/scan/scan-position.ts';
import { openScanSource } from '../../feed/scan/scan-source.ts';
import { FeedRefused, type Message, type Source, type SourceContext, type SourceStart } from '../../feed/source.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { Refusal } from '../../refusal.ts';

/** What was written of a network before, and is continued. */
export interface Written {
  /** Its last lines; of a topic those of each partition. Empty where there is nothing. */
  readonly ends: readonly (readonly Uint8Array[])[];
  /** How messages name it: `--output feed.ndjson`. */
  readonly name: string;
  /** What to do where it cannot be continued: `name another file`. */
  readonly otherwise: string;
}

export interface NetworkReading {
  /** Whether to go on at the end. */
  readonly follow: boolean;
  readonly stop: AbortSignal;
  readonly logger: Logger;
}

type Telemetry = { readonly caughtUpAt: number | null; readonly lagSeconds: number | null };

/** A source that continues what was written. */
interface Continuation {
  readonly source: Source<Telemetry>;
  /** Throws a Refusal where what was written is of another network. */
  begin(start: SourceStart): Promise<void>;
  /** Those of a batch that were not written, and how far the source was read. */
  take(batch: readonly Message[]): { readonly lines: readonly Uint8Array[]; readonly furthest?: ScanPosition | null };
}

const END_WATCH_MS = 100;
const UNKNOWN_NETWORK = 'does not show of which network it is';

/** What a network has behind what was written of it. */
export function openNetworkLines(
  written: Written,
  { scan, ledgerApi, migrationId }: Pick<Config, 'scan' | 'ledgerApi' | 'migrationId'>,
  reading: NetworkReading,
) {
  const { source, begin, take } =
    ledgerApi === null
      ? continueScan(written, scan!, reading)
      : continueParticipant(written, ledgerApi, { ...reading, migrationId: migrationId ?? 0 });
  const { follow, stop } = reading;

  /**
   * `begins` once it is known that these lines continue what was written, and `restarts` where a snapshot import begins; then
   * messages, until `stop` or the end of a network that is not followed. Those of a batch count as written when the next one is
   * asked for. Throws Refusal.
   */
  async function* read(): AsyncGenerator<'begins' | 'restarts' | readonly Uint8Array[]> {
    let hasBegun = false;
    const atEnd = new AbortController();
    // At the end nothing comes any more that could be looked at.
    const watch = setInterval(() => {
      if (!follow && source.telemetry?.().caughtUpAt !== null) atEnd.abort();
    }, END_WATCH_MS);
    try {
      for await (const batch of source.batches(AbortSignal.any([stop, atEnd.signal]))) {
        if ('identity' in batch) {
          await begin(batch);
          if (!hasBegun) yield 'begins';
          hasBegun = true;
          if (batch.restarts === true) yield 'restarts';
        } else if (batch.length > 0) {
          const { lines, furthest } = take(batch);
          if (lines.length > 0) yield lines;
          source.stored?.(new Map([[LANE, batch.at(-1)!.resumeToken!]]), furthest);
        }
      }
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof FeedRefused || error instanceof AnswerFailure)) throw error;
      throw new Refusal(error.message, { cause: error });
    } finally {
      clearInterval(watch);
    }
  }

  return {
    read,
    /** How far the last message was behind our clock; 0 at the end, null where that is not known. */
    lagSeconds: () => source.telemetry?.().lagSeconds ?? null,
  };
}

/** What follows may be of another snapshot. */
function unfinished(name: string, otherwise: string): Refusal {
  return new Refusal(
    `${name}: it ends within a snapshot import, which cannot be continued; delete it, or ${otherwise}`,
  );
}

/** As if what was written were what a directory has. */
function contextOf(token: string | null, more: Partial<SourceContext> & Pick<SourceContext, 'logger'>): SourceContext {
  const lanes = new Map(token === null ? [] : [[LANE, { start: token, resumeToken: token, sha256: null }]]);
  const stored = { identity: null, lanes };
  return { stored, reached: null, furthest: null, directoryId: '', migrationId: 0, ...more };
}

function continueScan(
  { ends, name, otherwise }: Written,
  settings: NonNullable<Config['scan']>,
  { logger }: NetworkReading,
): Continuation {
  const positions = ends.flatMap((lines) => {
    if (lines.length === 0) return [];
    const position = lastPosition(lines);
    if (position === null) throw new Refusal(`${name}: it ends with no update of a network; ${otherwise}`);
    if (position === IN_IMPORT) throw unfinished(name, otherwise);
    const last = tryDecode(lines.at(-1)!, { migrationId: 0 });
    return { ...position, hasUpdate: last instanceof BadUpdate || last.kind !== 'import marker' };
  });
  // After a kill, a partition may end before the others, but not one without updates in the newest migration.
  const newest = Math.max(...positions.map(({ migrationId }) => migrationId));
  const [from = null] = positions
    .filter(({ migrationId }) => migrationId === newest)
    .toSorted((a, b) => Number(b.hasUpdate) - Number(a.hasUpdate) || a.recordTime - b.recordTime);
  const known = new Set(ends.flat().map(textOf));
  let furthest: ScanPosition | null = from;
  return {
    source: openScanSource(settings, contextOf(from && tokenOf(from), { reached: from, furthest: from, logger })),
    // By the DSO of its coins and rounds; anybody may have created others.
    async begin({ dso }) {
      if (from === null || dso === undefined) return;
      const found = new Set(ends.flat().flatMap((line) => dsosOf(line)));
      if (found.has(dso)) return;
      const [other] = found;
      const what = other ? `has the coins of ${other}, and this is the network of ${dso}` : UNKNOWN_NETWORK;
      throw new Refusal(`${name}: it ${what}; ${otherwise}`);
    },
    // The source repeats the last minute of what is there.
    take(batch) {
      const lines = batch.map(({ bytes }) => bytes!);
      const last = lastPosition(lines);
      if (last !== IN_IMPORT) furthest = laterOf(furthest, last);
      return { lines: lines.filter((bytes) => !known.has(textOf(bytes))), furthest };
    },
  };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();

/** Where lines of a participant end. */
interface ParticipantEnd {
  readonly offset: number;
  readonly updates: readonly { readonly id: string; readonly offset: number }[];
  /** The participant that an import marker names; null where none is among the last lines. */
  readonly participantId: string | null;
}

/** A participant's updates without the events of owners that are not followed. */
function continueParticipant(
  written: Written,
  settings: NonNullable<Config['ledgerApi']>,
  { stop, logger, migrationId }: NetworkReading & { readonly migrationId: number },
): Continuation {
  const { ends, name, otherwise } = written;
  const found = ends.map((lines) => participantEnd(lines, written));
  // After a kill, a partition may end before the others.
  const [from = null] = found.filter((end) => end !== null).toSorted((a, b) => a.offset - b.offset);
  /** The last update up to there, which the participant must know too; none where the last lines have only others. */
  const [update] = found
    .flatMap((end) => end?.updates ?? [])
    .filter(({ offset }) => offset <= from!.offset)
    .toSorted((a, b) => b.offset - a.offset);
  if (from !== null && settings.parties === 'all')
    throw new Refusal(
      `${name}: cannot be continued with --ledger-api-parties all, because it does not say who was followed; name the parties`,
    );
  const other = new Refusal(
    `${name}: its last update is not one of this participant, whose offsets are others; ${otherwise}`,
  );
  // That update once more, which shows that it is the same participant.
  const token = from === null ? null : String(update === undefined ? from.offset : update.offset - 1);
  const source = openLedgerApiSource(settings, contextOf(token, { migrationId, logger }));
  let isSame = update === undefined;
  let own: OwnEvents;
  return {
    source,
    async begin({ followed, identity }) {
      own = new OwnEvents(followed!);
      if (from === null) return;
      if (from.participantId !== null && !identity.endsWith(from.participantId)) throw other;
      for await (const page of source.activeAt(from.offset, stop)) for (const each of page) own.of(each);
    },
    take(batch) {
      const fresh = batch.filter(({ decoded, resumeToken }) => {
        isSame ||= decoded?.kind === 'update' && decoded.offset === update?.offset && decoded.updateId === update?.id;
        if (!isSame) throw other;
        return from === null || Number(resumeToken) > from.offset;
      });
      return { lines: fresh.flatMap((message) => own.of(message) ?? []) };
    },
  };
}

/** Null where there is nothing. */
function participantEnd(lines: readonly Uint8Array[], { name, otherwise }: Written): ParticipantEnd | null {
  let isInImport = false;
  let offset: number | null = null;
  const updates: { id: string; offset: number }[] = [];
  let participantId: string | null = null;
  for (const line of lines) {
    const decoded = tryDecode(line, { migrationId: 0 });
    isInImport = !(decoded instanceof BadUpdate) && decoded.kind === 'update' && decoded.seed !== undefined;
    if (decoded instanceof BadUpdate || decoded.kind === 'ignored' || decoded.offset == null) continue;
    offset = decoded.offset;
    if (decoded.kind === 'update') updates.push({ id: decoded.updateId, offset });
    if (decoded.kind !== 'import marker') continue;
    const { seed } = JSON.parse(Buffer.from(line).toString()) as { seed: { participant_id?: unknown } };
    participantId = typeof seed.participant_id === 'string' ? seed.participant_id : null;
  }
  if (isInImport) throw unfinished(name, otherwise);
  if (lines.length > 0 && offset === null)
    throw new Refusal(`${name}: it ends with no update of a participant; ${otherwise}`);
  return offset === null ? null : { offset, updates, participantId };
}
