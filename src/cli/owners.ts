import { tableCommand } from './table-command.ts';

export const ownersCommand = tableCommand('owners', {
  summary: 'Print every owner with the totals at a snapshot, from the data directory',
  examples: ['holdfast owners --prefix alice', 'holdfast owners --at 2025-02-14T15:00:00Z --csv'],
});
