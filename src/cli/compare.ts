import { counted } from '../counted.ts';
import { PARAMETERS } from '../holdings/table-question.ts';
import { formatTime } from '../ledger/time.ts';
import { Refusal } from '../refusal.ts';
import { type Compared, compareMigration, otherReplica, ownReplica, type Wanted } from '../service/compare-digests.ts';
import { readUpdateOrder, type UpdateOrder } from '../views/read/stored-status.ts';
import { openViewsStore } from '../views/read/views-store.ts';
import { addressOf, apiKeyOf, type CliCommand, EXIT, type Invocation, parseOption } from './command.ts';
import { safeText } from './terminal.ts';

export const compareCommand: CliCommand = {
  usage: 'compare <URL>',
  summary: 'Compare digests with another Holdfast, and name the first snapshot that differs',
  examples: [
    'holdfast compare https://holdfast.example',
    'holdfast compare http://10.0.0.7:8080 --migration 4 --from 2025-02-01T00:00:00Z --json',
  ],
  addOptions: (command) =>
    command
      .option('--migration <N>', 'only this migration (default: all that both have)')
      .option('--from <TIME>', 'from this time on, RFC 3339 (default: the first snapshot that both have)')
      .option('--tokens', 'the digests of the tokens, instead of those of the coin')
      .option('--to <TIME>', 'up to this time (default: the newest snapshot that both have)')
      .option('--json', 'print JSON for programs'),
  run: async ({ args, options, config, terminal }) => {
    const { stdout, stderr } = terminal;
    const url = addressOf('URL', args[0]!);
    const wanted = { ...parseRange(options), ofTokens: options.tokens === true };
    const migration = parseOption(options, 'migration', PARAMETERS.migration_id);
    using store = openViewsStore(config.dataDir);
    const replicas = {
      own: ownReplica(store),
      other: otherReplica(url, { stop: terminal.stopSignal(), key: apiKeyOf(terminal) }),
    };
    const say = (text: string): void => void stderr.write(`holdfast: ${safeText(text)}\n`);
    const found: Compared[] = [];
    for (const { migrationId } of await store.facts({ kind: 'newest snapshots' })) {
      if (migration !== null && migration !== BigInt(migrationId)) continue;
      const result = await compareMigration(replicas, migrationId, wanted);
      if (typeof result === 'string') say(`migration ${migrationId}: cannot be compared: ${result}`);
      else if (result !== null) found.push(result);
    }
    if (options.json === true) stdout.write(`${JSON.stringify({ migrations: found.map(listed) }, null, 2)}\n`);
    else for (const each of found) stdout.write(comparedLine(each));
    if (found.length === 0) {
      say(`nothing in common with ${url}: no snapshot of the grid that both have can be compared`);
      return EXIT.noSnapshot;
    }
    for (const note of orderNotes(readUpdateOrder(config.dataDir), found)) say(note);
    return found.every(({ firstDifferent }) => firstDifferent === null) ? EXIT.ok : EXIT.differs;
  },
};

function parseRange(options: Invocation['options']): Wanted {
  const from = parseOption(options, 'from', PARAMETERS.from);
  const to = parseOption(options, 'to', PARAMETERS.to);
  if (from !== null && to !== null && from > to)
    throw new Refusal(`--from: given ${options.from}, expected a time at or before --to, which is ${options.to}`);
  return { from: from === null ? null : Number(from), to: to === null ? null : Number(to) };
}

function listed({ migrationId, from, to, compared, firstDifferent, by }: Compared): Readonly<Record<string, unknown>> {
  return {
    migration_id: migrationId,
    from: formatTime(from),
    to: formatTime(to),
    compared,
    first_different: firstDifferent === null ? null : formatTime(firstDifferent),
    by,
  };
}

function comparedLine({ migrationId, from, to, compared, firstDifferent, by, leftOut }: Compared): string {
  const result = firstDifferent === null ? 'equal' : `different, first at ${formatTime(firstDifferent)}`;
  const range = `${counted(compared, 'snapshot')} from ${formatTime(from)} to ${formatTime(to)}, by ${by}`;
  const whose = leftOut?.of === 'own' ? 'this one begins' : 'the other one begins';
  const left =
    leftOut === null
      ? ''
      : `; without that of ${formatTime(leftOut.recordTime)}, with which ${whose}, as it has everything`;
  return `migration ${migrationId}: ${result}; ${range}${left}\n`;
}

/** Where the same updates may have been read in another order by the other one. */
function orderNotes(orders: readonly UpdateOrder[], found: readonly Compared[]): readonly string[] {
  const ids = new Set(found.map(({ migrationId }) => migrationId));
  return orders.flatMap(({ migrationId, synchronizers, repairs }) => {
    if (!ids.has(migrationId) || (synchronizers < 2 && repairs === 0)) return [];
    const knows = [
      ...(synchronizers < 2 ? [] : [counted(synchronizers, 'synchronizer')]),
      ...(repairs === 0 ? [] : [counted(repairs, 'repair')]),
    ];
    const depends = 'a difference may only mean that the other one read them in another order (docs/digest.md)';
    return [`migration ${migrationId} has updates of ${knows.join(' and ')}: ${depends}`];
  });
}
