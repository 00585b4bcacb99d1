import { openFileSource } from '../../../src/feed/file/file-source.ts';
import { type ReplayOptions, type ReplayResult, replayFiles } from '../../../src/ingest/replay-files.ts';
import type { WriterOptions } from '../../../src/views/write/writer.ts';
import { type HistoryItem, importsOfOne } from '../ledger/history.ts';
import { ledgerApiLine } from '../ledger/ledger-api-lines.ts';
import { scanLine, viewedImportLine } from '../ledger/scan-lines.ts';
import { openInlineFeed } from './inline-feed.ts';

export const TEN_MINUTES_US = 600_000_000;
const DAY_US = 86_400_000_000;
/** After every time that the ledgers of tests name. */
export const CLOCK_US = Date.UTC(2026, 0, 1) * 1000;

/**
 * `acs-delta` is the Ledger API's form with archived events in place of exercised ones; `participant` that with imports of format A
 * that carry views.
 */
export type Format = 'scan' | 'ledger-api' | 'acs-delta' | 'participant';

/**
 * The items as feed lines. What the format has no word for is left out, except for repairs, which only format B has: they
 * are written in it.
 */
export function linesOf(items: Iterable<HistoryItem>, format: Format): string[] {
  const lines: string[] = [];
  for (const item of items) {
    for (const each of format === 'scan' || format === 'participant' ? importsOfOne(item) : [item]) {
      const line = lineOf(each, format);
      if (line !== null) lines.push(line);
    }
  }
  return lines;
}

function lineOf(item: HistoryItem, format: Format): string | null {
  if (format === 'scan') return item.kind === 'update' && item.sharesTime ? ledgerApiLine(item) : scanLine(item);
  if (format === 'participant' && item.kind === 'update' && item.wrapping === 'import') return viewedImportLine(item);
  return ledgerApiLine(item, format === 'ledger-api' ? 'ledger-effects' : 'acs-delta');
}

/** Where lines are cut: by the file's bytes into chunks, and by events into transactions. */
export interface Cuts
  extends Partial<Pick<ReplayOptions, 'migrationId' | 'decodeWorkers' | 'epochEvents' | 'ownersMax'>> {
  /** How much of a file is read and decoded at once, in the caller's thread. */
  readonly chunkBytes?: number;
  readonly batchEventsMax?: number;
}

/** Many epochs, each of few coins, and few owners in memory: so even a short feed has rows in several, and clears and drops them. */
export const SMALL_EPOCHS: Cuts = { batchEventsMax: 5, epochEvents: 7, ownersMax: 2 };

/** The defaults of `holdfast replay`, except for the clock. */
export const WRITER_OPTIONS: WriterOptions = {
  snapshotPeriodUs: TEN_MINUTES_US,
  dso: null,
  migrationId: null,
  onBadUpdate: 'halt',
  recordTimeGapMaxUs: 400 * DAY_US,
  recordTimeAheadMaxUs: DAY_US / 24,
  now: () => CLOCK_US,
};

/** Replays real files into a data directory, in the caller's thread; with `decodeWorkers` in threads, as `holdfast replay` does. */
export function replayInto(
  dataDir: string,
  files: readonly string[],
  { chunkBytes, ...changes }: Cuts & Partial<ReplayOptions> = {},
): Promise<ReplayResult> {
  const source = chunkBytes === undefined ? {} : { chunkBytes };
  const openFeed: ReplayOptions['openFeed'] = (path, migrationId) =>
    openInlineFeed(openFileSource(path, source), { migrationId });
  return replayFiles({
    dataDir,
    files,
    seal: false,
    decodeWorkers: null,
    signal: new AbortController().signal,
    ...WRITER_OPTIONS,
    onProgress: () => {},
    ...(changes.decodeWorkers === undefined && { openFeed }),
    ...changes,
  });
}
