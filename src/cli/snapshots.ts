import { type ListedSnapshot, listedSnapshot } from '../holdings/snapshots.ts';
import { openViewsStore } from '../views/read/store.ts';
import { type CliCommand, EXIT } from './command.ts';
import { formatTable } from './table.ts';

export const snapshotsCommand: CliCommand = {
  usage: 'snapshots',
  summary: 'List the sealed snapshots, from the data directory',
  examples: ['holdfast snapshots', 'holdfast snapshots --data ./data --json'],
  settings: [],
  addOptions: (command) => command.option('--json', 'print JSON for programs'),
  run: async ({ options, config, terminal }) => {
    using store = openViewsStore(config.dataDir);
    const rows = (await store.facts({ kind: 'snapshots' })).map(listedSnapshot);
    if (options.json === true) terminal.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    else terminal.stdout.write(snapshotsText(rows));
    return EXIT.ok;
  },
};

function snapshotsText(rows: readonly ListedSnapshot[]): string {
  const header = ['migration', 'record time', 'contracts', 'owners', 'unlocked coin', 'locked coin'];
  return formatTable(
    header,
    rows.map((row) => Object.values(row).map(String)),
  );
}
