import { counted } from '../counted.ts';
import { readableSize } from '../feed/file/file-source.ts';
import { dsoWarning } from '../ingest/ingest-status.ts';
import { type ReplayResult, replayInThread } from '../ingest/replay-files.ts';
import { formatTime } from '../ledger/time.ts';
import { commandOn, haltLine, LIST } from '../views/dead-letter-advice.ts';
import { openViewsStore } from '../views/read/views-store.ts';
import { type CliCommand, EXIT } from './command.ts';
import { migrateOlderViews } from './migrate-views.ts';
import { createProgress, fileStep } from './progress.ts';
import { safeText } from './terminal.ts';

export const STANDARD_INPUT = '-';

export const replayCommand: CliCommand = {
  usage: 'replay <FILE...>',
  summary: 'Apply feed files (- is standard input) to the views, then exit',
  examples: [
    'holdfast replay --data ./data feed.ndjson',
    'zcat old.ndjson.gz | holdfast replay --data ./data --seal - new.ndjson',
  ],
  dataDir: 'made',
  settings: [
    ...(['decodeWorkers', 'migrationId', 'snapshotPeriod', 'dso', 'tokens', 'onBadUpdate'] as const),
    ...(['recordTimeAheadMax', 'recordTimeGapMax'] as const),
  ],
  addOptions: (command) => command.option('--seal', 'seal a last snapshot at the last applied record time'),
  run: async (invocation) => {
    const { args, options, config, terminal, logger } = invocation;
    // A wrong name among many is better reported before anything is applied.
    for (const file of args) readableSize(file);
    const signal = terminal.stopSignal();
    await migrateOlderViews(invocation, { stop: () => signal });
    const startedAt = Date.now() * 1000;
    using progress = createProgress({ doing: 'replaying', stderr: terminal.stderr, logger });
    const result = await replayInThread(
      { ...config, files: args, seal: options.seal === true },
      {
        signal,
        onProgress: ({ file, bytes, counts: { updates, events } }) =>
          progress.update(fileStep(file, bytes, { updates, events })),
      },
    );
    progress[Symbol.dispose]();
    const warning = dsoWarning(result.dso);
    if (warning !== null) logger.warn({ dso: result.dso.party }, warning);
    terminal.stdout.write(`${await summaryLine(result, config.dataDir)}\n`);
    const print = commandOn(config.dataDir);
    if (result.halted !== null) {
      const unread =
        result.halted.createdAt < startedAt
          ? `nothing was read from ${args.join(', ')}, because of an earlier halt: `
          : '';
      const says = `${unread}${haltLine(result.halted, print)}`;
      terminal.stderr.write(`holdfast: ${safeText(says)}\n`);
      return EXIT.halted;
    }
    if (signal.aborted)
      throw new Error('stopped before the end; run it again to continue; what was applied is skipped');
    if (result.quarantined === 0) return EXIT.ok;
    terminal.stderr.write(`holdfast: ${counted(result.quarantined, 'update')} quarantined; see ${print(LIST)}\n`);
    return EXIT.halted;
  },
};

async function summaryLine({ counts, halted, quarantined }: ReplayResult, dataDir: string): Promise<string> {
  const { updates, events, redelivered, importsLate, decided } = counts;
  const deadLetters = quarantined + (halted === null ? 0 : 1);
  using store = openViewsStore(dataDir);
  const newest = (await store.facts({ kind: 'newest snapshots' })).at(-1);
  const snapshot =
    newest === undefined ? 'none' : `${formatTime(newest.recordTime)} of migration ${newest.migrationId}`;
  // Not counted as redelivered: their contracts may not be in the views.
  const late = importsLate === 0 ? '' : `late imports ${importsLate}; `;
  // Dropped or quarantined by an earlier command: nothing of them is in the views.
  const leftOut = decided === 0 ? '' : `left out before ${decided}; `;
  return (
    `applied ${updates} updates, ${events} events; redelivered ${redelivered}; ` +
    `dead letters ${deadLetters}; ${leftOut}${late}newest snapshot ${snapshot}`
  );
}
