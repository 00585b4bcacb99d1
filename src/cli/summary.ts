import type { Config } from '../config/load-config.ts';
import { HoldingsFault, requireFollowed } from '../holdings/holdings-fault.ts';
import { coinTotals, feeTotals, type Summary, summaryFacts } from '../holdings/summary-answer.ts';
import { PARAMETERS } from '../holdings/table-question.ts';
import { isPartyId, PARTY_EXPECTED } from '../ledger/ledger-ids.ts';
import { formatTime } from '../ledger/time.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import { openViewsStore } from '../views/read/views-store.ts';
import {
  type AskTable,
  addressBelow,
  answerOf,
  type RunningService,
  serviceOf,
  tablesOf,
  wholeParty,
} from './ask-table.ts';
import { type CliCommand, parseOption, widthOf } from './command.ts';
import { rowsForPeople } from './terminal.ts';

export const summaryCommand: CliCommand = {
  usage: 'summary',
  summary: 'Coin totals and holding fees of owners at a snapshot',
  examples: [
    'holdfast summary --owner alice::1220ab',
    'holdfast summary --owner alice::1220ab bob::1220cd --at 2025-02-14T15:00:00Z --round 20203 --json',
    'holdfast summary --owner alice::1220ab --url http://127.0.0.1:8080',
  ],
  settings: ['emptyOwners', 'ownersMax'],
  addOptions: (command) =>
    command
      .requiredOption('--owner <PARTY...>', 'owners to sum up; on a terminal a beginning that no other has is enough')
      .option('--at <TIME>', 'time of the snapshot: RFC 3339, or a date (default: the newest)')
      .option('--migration <N>', 'migration of the snapshot (default: the largest)')
      .option('--round <R>', 'round that fees are of (default: the lowest open one)')
      .option('--url <URL>', 'ask a running service, instead of --data')
      .option('--json', 'print JSON for programs'),
  run: async (invocation) => {
    const { options, config, terminal } = invocation;
    using opened = new DisposableStack();
    const ask = tablesOf(invocation, opened);
    const recordTime = parseOption(options, 'at', PARAMETERS.record_time);
    const migrationId = parseOption(options, 'migration', PARAMETERS.migration_id);
    // Null: the lowest open one.
    const round = parseOption(options, 'round', PARAMETERS.migration_id);
    const owners: string[] = [];
    for (const text of options.owner as readonly string[]) owners.push(await wholeParty(text, { ...invocation, ask }));
    const request: SummaryRequest = {
      owners: parseOwners(owners, config.ownersMax),
      recordTime,
      match: 'exact',
      migrationId,
    };
    const service = serviceOf(invocation);
    const found =
      service === null ? await stored(request, round, config) : await served(request, round, { ask, ...service });
    if (!('computed_as_of_round' in found))
      terminal.stderr.write('holdfast: no open mining round is known, so there are no fees; --round names one\n');
    terminal.stdout.write(
      options.json === true ? `${JSON.stringify(found, null, 2)}\n` : summaryText(found, widthOf(terminal.stdout)),
    );
  },
};

type SummaryRequest = Parameters<typeof coinTotals>[0];

async function stored(request: SummaryRequest, round: bigint | null, config: Config): Promise<Summary> {
  using store = openViewsStore(config.dataDir);
  await requireFollowed(store, request.owners);
  const facts = await store.facts(summaryFacts(request, round ?? 'lowest open'));
  return facts.round === null ? coinTotals(request, facts, config) : feeTotals(request, facts, config);
}

/** Of a service: with fees where it knows a round, as of a directory. */
async function served(
  { owners, recordTime, migrationId }: SummaryRequest,
  round: bigint | null,
  { ask, ...service }: RunningService & { readonly ask: AskTable },
): Promise<Summary> {
  const range = { from: null, to: recordTime, every: null, order: 'desc', limit: 1, after: null } as const;
  const { head, rows } = await ask({ table: 'snapshots', query: { migration_id: migrationId, ...range } })(1, null);
  const time = recordTime === null ? rows[0]?.record_time : formatTime(recordTime);
  if (time === undefined) throw new HoldingsFault('no_such_time', 'no snapshot is sealed yet');
  const body = {
    migration_id: head.migration_id,
    record_time: time,
    owner_party_ids: owners,
    ...(round !== null && { as_of_round: Number(round) }),
  };
  const post = async (version: string): Promise<Summary> =>
    (await answerOf(addressBelow(service.base, `/${version}/holdings/summary`), service, body)) as Summary;
  if (round !== null) return await post('v0');
  return await post('v0').catch((error: unknown) => {
    // Without an open round there are totals all the same.
    if (error instanceof Refusal || error instanceof HoldingsFault) return post('v1');
    throw error;
  });
}

function parseOwners(given: readonly string[], ownersMax: number): readonly string[] {
  if (given.length > ownersMax)
    throw new Refusal(`--owner: given ${given.length} owners, expected at most ${ownersMax} (--owners-max)`);
  for (const party of given)
    if (!isPartyId(party)) throw new Refusal(`--owner: given ${showGiven(party)}, expected ${PARTY_EXPECTED}`);
  return [...new Set(given)];
}

const LEFT_OUT = [
  ...[
    'accumulated_holding_fees_unlocked',
    'accumulated_holding_fees_locked',
    'total_unlocked_coin',
    'total_locked_coin',
  ],
  ...['accumulated_holding_fees_total', 'total_available_coin'],
];

function summaryText(found: Summary, width: number | undefined): string {
  const round =
    'computed_as_of_round' in found ? `, fees as of round ${JSON.stringify(found.computed_as_of_round)}` : '';
  const columns = Object.keys(found.summaries[0] ?? { party_id: '' });
  const table = rowsForPeople(columns, found.summaries, {
    parts: /^(total|accumulated)_|_holdings$/g,
    width,
    leftOut: LEFT_OUT,
  });
  return `migration ${found.migration_id}, snapshot ${found.record_time}${round}\n\n${table}`;
}
