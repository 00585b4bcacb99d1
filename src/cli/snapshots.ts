import { LISTED_COLUMNS, listedRow } from '../holdings/insight/rows.ts';
import { csvText } from '../holdings/insight/table.ts';
import { Refusal } from '../refusal.ts';
import { openViewsStore } from '../views/read/store.ts';
import type { CliCommand } from './command.ts';
import { formatTable } from './table.ts';

export const snapshotsCommand: CliCommand = {
  usage: 'snapshots',
  summary: 'List the sealed snapshots, from the data directory',
  examples: ['holdfast snapshots', 'holdfast snapshots --data ./data --json', 'holdfast snapshots --csv'],
  addOptions: (command) => command.option('--json', 'print JSON for programs').option('--csv', 'print CSV'),
  run: async ({ options, config, terminal }) => {
    if (options.json === true && options.csv === true)
      throw new Refusal('--csv: given with --json, expected one of them');
    using store = openViewsStore(config.dataDir);
    const rows = (await store.facts({ kind: 'snapshots' })).map(listedRow);
    if (options.json === true) terminal.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    else if (options.csv === true) terminal.stdout.write(csvText({ columns: LISTED_COLUMNS, rows }, true));
    else {
      const header = LISTED_COLUMNS.map((name) => name.replace(/^total_(?!coin)|_id$/g, '').replaceAll('_', ' '));
      const cells = rows.map((row) => Object.values(row).map((value) => String(value ?? '')));
      terminal.stdout.write(formatTable(header, cells));
    }
  },
};
