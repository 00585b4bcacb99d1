import { tableCommand } from './table-command.ts';

export const historyCommand = tableCommand('history', {
  summary: "Print an owner's totals over time, from the data directory",
  examples: [
    'holdfast history --owner alice::1220ab',
    'holdfast history --owner alice::1220ab --from 2025-02-01T00:00:00Z --every 1d --csv',
  ],
});
