import { SCAN_KEYS } from '../config/scan.ts';
import { counted } from '../counted.ts';
import { type LinesFile, openLinesFile, readTail, type Tail } from '../feed/file/lines-file.ts';
import { cursorText, IN_SEED, laterOf, type ScanCursor } from '../feed/scan/cursor.ts';
import { dsosOf, lastPlace } from '../feed/scan/place-of-line.ts';
import { openScanSource } from '../feed/scan/source.ts';
import { LANE } from '../feed/scan/status.ts';
import { FeedRefused, type SourceContext } from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import { type CliCommand, EXIT } from './command.ts';

const END_WATCH_MS = 100;
const NOTHING: Tail = { lines: [], endsAt: 0 };

export const fetchCommand: CliCommand = {
  usage: 'fetch',
  summary: "Write a network's updates as lines to standard output or a file, until the end reached now",
  examples: [
    'holdfast fetch --scan https://scan.example --output updates.ndjson',
    'holdfast fetch --scan https://scan.example --start beginning --output history.ndjson.zst',
  ],
  dataDir: 'unused',
  settings: SCAN_KEYS,
  addOptions: (command) =>
    command
      .option(
        '--output <FILE>',
        'the file, compressed where its name ends in .gz or .zst; an existing plain one is continued',
      )
      .option('--follow', 'continue at the end, until SIGTERM or SIGINT'),
  run: async ({ options, config: { scan }, terminal, logger }) => {
    if (scan === null) throw new Refusal('--scan says which network to fetch');
    const path = (options.output as string | undefined) ?? null;
    const tail = path === null ? NOTHING : readTail(path);
    const end = endOf(tail, path);
    // Half a seed is of no use: what follows it may be of another snapshot.
    const isHalf = end === IN_SEED;
    const known = new Set(isHalf ? [] : tail.lines.map((line) => line.toString()));
    let furthest = isHalf ? null : end;
    const source = openScanSource(scan, { ...continuing(furthest), logger });
    let output: LinesFile | null = null;
    const atEnd = new AbortController();
    const stop = terminal.stopSignal();
    // At the end nothing comes any more that could be looked at.
    const watch = setInterval(() => {
      if (options.follow !== true && source.telemetry?.().caughtUpAt !== null) atEnd.abort();
    }, END_WATCH_MS);
    let updates = 0;
    try {
      for await (const batch of source.batches(AbortSignal.any([stop, atEnd.signal]))) {
        if ('identity' in batch) {
          // Nothing is cut off or written before it is known that the file may be continued.
          if (furthest !== null && output === null) requireSameNetwork(tail, { path, dso: batch.dso });
          output ??= openLinesFile(path, terminal.stdout, isHalf ? 0 : tail.endsAt);
          if (batch.anew === true && updates > 0) await output.clear();
          continue;
        }
        // Again the last minute of what is there: see the source.
        const fresh = batch.filter(({ bytes }) => bytes !== null && !known.has(Buffer.from(bytes).toString()));
        await output!.write(fresh.map(({ bytes }) => bytes!));
        updates += fresh.length;
        const last = lastPlace(batch.map(({ bytes }) => bytes!));
        if (last !== IN_SEED) furthest = laterOf(furthest, last);
        source.stored?.(new Map([[LANE, batch.at(-1)!.cursor!]]), furthest);
      }
    } catch (error) {
      if (error instanceof FeedRefused) throw new Refusal(error.message, { cause: error });
      throw error;
    } finally {
      clearInterval(watch);
      await output?.end();
    }
    logger.info({ updates, output: path }, `${counted(updates, 'line')} written`);
    return EXIT.ok;
  },
};

/** Where a file ends; null where it is empty. */
function endOf({ lines }: Tail, path: string | null): ScanCursor | typeof IN_SEED | null {
  const place = lastPlace(lines);
  if (lines.length > 0 && place === null)
    throw new Refusal(`--output ${path}: it ends with no update of a network; name another file`);
  return place;
}

/** The DSO whose coins and rounds the lines have; anybody may have created others. */
function requireSameNetwork({ lines }: Tail, { path, dso }: { path: string | null; dso: string | undefined }): void {
  const found = new Set(lines.flatMap((line) => dsosOf(line)));
  if (dso === undefined || found.has(dso)) return;
  const [other] = found;
  const what =
    other === undefined
      ? 'does not show of which network it is'
      : `has the coins of ${other}, and this is the network of ${dso}`;
  throw new Refusal(`--output ${path}: it ${what}; name another file`);
}

/** As if that were what a directory has. */
function continuing(place: ScanCursor | null): Omit<SourceContext, 'logger'> {
  const cursor = place && cursorText(place);
  const lanes = cursor === null ? [] : [[LANE, { start: cursor, cursor, sha256: null }] as const];
  const stored = { identity: null, lanes: new Map(lanes) };
  return { stored, reached: place, furthest: place, directoryId: '', migrationId: 0 };
}
