import { tableCommand } from './table-command.ts';

export const topCommand = tableCommand('top', {
  summary: 'Print the largest owners at a snapshot, from the data directory',
  examples: ['holdfast top --limit 10', 'holdfast top --at 2025-02-14T15:00:00Z --by locked --json'],
});
