import { requireFollowed } from '../holdings/holdings-fault.ts';
import { coinTotals, feeTotals, type Summary, summaryFacts } from '../holdings/summary-answer.ts';
import { PARAMETERS } from '../holdings/table-question.ts';
import { isPartyId, PARTY_EXPECTED } from '../ledger/ledger-ids.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import { openViewsStore } from '../views/read/views-store.ts';
import { type CliCommand, parseOption } from './command.ts';
import { rowsForPeople } from './terminal.ts';

export const summaryCommand: CliCommand = {
  usage: 'summary',
  summary: 'Print the coin totals and holding fees of owners at a snapshot, from the data directory',
  examples: [
    'holdfast summary --owner alice::1220ab',
    'holdfast summary --owner alice::1220ab bob::1220cd --at 2025-02-14T15:00:00Z --round 20203 --json',
  ],
  settings: ['emptyOwners', 'ownersMax'],
  addOptions: (command) =>
    command
      .requiredOption('--owner <PARTY...>', 'owners to sum up')
      .option('--at <TIME>', 'time of the snapshot, RFC 3339 (default: the newest)')
      .option('--migration <N>', 'migration of the snapshot (default: the largest)')
      .option('--round <R>', 'round that fees are of (default: the lowest open one)')
      .option('--json', 'print JSON for programs'),
  run: async ({ options, config, terminal }) => {
    const request = {
      owners: parseOwners(options.owner as readonly string[], config.ownersMax),
      recordTime: parseOption(options, 'at', PARAMETERS.record_time),
      match: 'exact',
      migrationId: parseOption(options, 'migration', PARAMETERS.migration_id),
    } as const;
    // Null: the lowest open one.
    const round = parseOption(options, 'round', PARAMETERS.migration_id);
    using store = openViewsStore(config.dataDir);
    await requireFollowed(store, request.owners);
    const facts = await store.facts(summaryFacts(request, round ?? 'lowest open'));
    const found = facts.round === null ? coinTotals(request, facts, config) : feeTotals(request, facts, config);
    if (!('computed_as_of_round' in found))
      terminal.stderr.write('holdfast: no open mining round is known, so there are no fees; --round names one\n');
    terminal.stdout.write(options.json === true ? `${JSON.stringify(found, null, 2)}\n` : summaryText(found));
  },
};

function parseOwners(given: readonly string[], ownersMax: number): readonly string[] {
  if (given.length > ownersMax)
    throw new Refusal(`--owner: given ${given.length} owners, expected at most ${ownersMax} (--owners-max)`);
  for (const party of given)
    if (!isPartyId(party)) throw new Refusal(`--owner: given ${showGiven(party)}, expected ${PARTY_EXPECTED}`);
  return [...new Set(given)];
}

function summaryText(found: Summary): string {
  const round =
    'computed_as_of_round' in found ? `, fees as of round ${JSON.stringify(found.computed_as_of_round)}` : '';
  const columns = Object.keys(found.summaries[0] ?? { party_id: '' });
  const table = rowsForPeople(columns, found.summaries, { parts: /^(total|accumulated)_|_holdings$/g });
  return `migration ${found.migration_id}, snapshot ${found.record_time}${round}\n\n${table}`;
}
