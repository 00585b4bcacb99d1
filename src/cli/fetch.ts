import { keysOf, LEDGER_API_SETTINGS, SCAN_SETTINGS } from '../config/setting-list.ts';
import { counted } from '../counted.ts';
import { openFileSource } from '../feed/file/file-source.ts';
import { type LinesFile, openLinesFile, readTail, type Tail } from '../feed/file/lines-file.ts';
import { IN_IMPORT } from '../feed/network/snapshot-import.ts';
import { positionOfLine } from '../feed/scan/scan-position.ts';
import { Refusal } from '../refusal.ts';
import type { CliCommand } from './command.ts';
import { openNetworkLines } from './transfer/network-lines.ts';

const NOTHING: Tail = { lines: [], endsAt: 0 };

export const fetchCommand: CliCommand = {
  usage: 'fetch',
  summary: "Write a network's updates as lines to standard output or a file, until the end reached now",
  examples: [
    'holdfast fetch --scan https://scan.example --output updates.ndjson',
    'holdfast fetch --scan https://scan.example --start beginning --output history.ndjson.zst',
    'holdfast fetch --ledger-api http://participant:7575 --ledger-api-parties alice::1220ab --migration-id 4 --output updates.ndjson',
  ],
  dataDir: 'unused',
  settings: [...keysOf(SCAN_SETTINGS), ...keysOf(LEDGER_API_SETTINGS), 'migrationId'],
  addOptions: (command) =>
    command
      .option(
        '--output <FILE>',
        'the file, compressed where its name ends in .gz or .zst; an existing plain one is continued',
      )
      .option('--follow', 'continue at the end, until SIGTERM or SIGINT'),
  run: async ({ options, config, terminal, logger }) => {
    if (config.scan === null && config.ledgerApi === null)
      throw new Refusal('--scan or --ledger-api says which network to fetch');
    const path = (options.output as string | undefined) ?? null;
    const tail = path === null ? NOTHING : readTail(path);
    const stop = terminal.stopSignal();
    const network = openNetworkLines(
      { ends: [tail.lines], name: `--output ${path}`, otherwise: 'name another file' },
      config,
      { follow: options.follow === true, stop, logger },
    );
    if (path !== null && network.isInImport) await requireOnlyImport(path, tail, stop);
    let output: LinesFile | null = null;
    let updates = 0;
    try {
      for await (const step of network.read()) {
        if (step === 'begins') output = openLinesFile(path, terminal.stdout, network.isInImport ? 0 : tail.endsAt);
        else if (step !== 'restarts') await output!.write(step);
        else if (updates > 0) await output!.clear();
        updates += typeof step === 'string' ? 0 : step.length;
      }
    } finally {
      await output?.end();
    }
    logger.info({ updates, output: path }, `${counted(updates, 'line')} written`);
  },
};

/** A file is emptied only where all its whole lines are of the unfinished snapshot import at its end. */
async function requireOnlyImport(path: string, { endsAt }: Tail, stop: AbortSignal): Promise<void> {
  const file = openFileSource(path, { headBytes: endsAt, reuseBuffers: true });
  for await (const lines of file.batches(stop)) {
    const other = lines.find(({ bytes }) => bytes === null || positionOfLine(bytes) !== IN_IMPORT);
    if (other !== undefined)
      throw new Refusal(
        `--output ${path}: ends within an unfinished snapshot import, and line ${other.offset} is not part of that import; ` +
          'name another file, or remove the lines of the unfinished import from this one',
      );
  }
}
