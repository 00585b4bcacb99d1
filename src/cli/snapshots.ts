import { formatAmount } from '../ledger/amount.ts';
import { formatTime } from '../ledger/time.ts';
import { openViewsReader } from '../views/read/reader.ts';
import type { Snapshot } from '../views/read/types.ts';
import { type CliCommand, EXIT } from './command.ts';
import { formatTable } from './table.ts';

export const snapshotsCommand: CliCommand = {
  usage: 'snapshots',
  summary: 'List the sealed snapshots, from the data directory',
  examples: ['holdfast snapshots', 'holdfast snapshots --data ./data --json'],
  settings: [],
  addOptions: (command) => command.option('--json', 'print JSON for programs'),
  run: async ({ options, config, terminal }) => {
    using database = openViewsReader(config.dataDir);
    const rows = database.read((views) => [...views.snapshots()].map(describe));
    if (options.json === true) terminal.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    else terminal.stdout.write(snapshotsText(rows));
    return EXIT.ok;
  },
};

function describe(snapshot: Snapshot) {
  return {
    migration_id: snapshot.migrationId,
    record_time: formatTime(snapshot.recordTime),
    contracts: snapshot.contracts,
    owners: snapshot.owners,
    total_unlocked_coin: formatAmount(snapshot.unlocked),
    total_locked_coin: formatAmount(snapshot.locked),
  };
}

function snapshotsText(rows: readonly ReturnType<typeof describe>[]): string {
  const header = ['migration', 'record time', 'contracts', 'owners', 'unlocked coin', 'locked coin'];
  return formatTable(
    header,
    rows.map((row) => Object.values(row).map(String)),
  );
}
