import { formatDuration } from '../ledger/duration.ts';
import { Refusal } from '../refusal.ts';
import { type OldViews, readOldViews, setViewsAside } from '../views/backup/set-aside.ts';
import { type DirectoryMade, madeNow, requireViews } from '../views/store/database.ts';
import { SCHEMA_VERSION } from '../views/store/schema.ts';
import { lockForWriting } from '../views/store/writer-lock.ts';
import type { CliCommand } from './command.ts';

export const rebuildCommand: CliCommand = {
  usage: 'rebuild',
  summary:
    'Set a views.db of an older version aside, so that the next start replays the feed into a new one; the users stay',
  examples: ['holdfast rebuild --data ./data', 'holdfast rebuild --data ./data --yes --snapshot-period 30m'],
  addOptions: (command) =>
    command
      .option('--yes', 'also one of this version, of a newer one, or a damaged one')
      .option('--snapshot-period <D>', 'time between snapshots (default: as before)')
      .option(
        '--dso <PARTY>',
        'the DSO whose coins count (default: as before where it was named, else the first one seen)',
      )
      .option('--migration-id <N>', 'migration of feeds that name none, the Ledger API form (default: as before)'),
  run: async ({ options, config, terminal }) => {
    const { dataDir, snapshotPeriodUs, dso, migrationId } = config;
    requireViews(dataDir);
    using _lock = lockForWriting(dataDir);
    const old = readOldViews(dataDir);
    const isOlder = old.version !== null && old.version > 0 && old.version < SCHEMA_VERSION;
    if (!isOlder && options.yes !== true) {
      throw new Refusal(`--data ${dataDir}: views.db ${whyNotOlder(old)}; nothing was done, --yes sets it aside`);
    }
    const made: DirectoryMade = {
      ...madeNow({ snapshotPeriodUs, dso }),
      ...old.made,
      ...(snapshotPeriodUs !== null && { snapshotPeriodUs }),
      ...(dso !== null && { dso }),
      ...(migrationId !== null && { migrationId }),
    };
    const aside = setViewsAside(dataDir, old.version === null ? 'damaged' : `version-${old.version}`, made);
    terminal.stdout.write(`${aside}: the previous views; keep it until the new ones are complete\n`);
    terminal.stdout.write(
      `${dataDir}: new views, ${madeText(old, made)}; now replay or serve the feed from its start\n`,
    );
  },
};

function whyNotOlder({ version }: OldViews): string {
  if (version === null) return 'is damaged, and its settings cannot be read';
  if (version === 0) return 'has no tables yet';
  if (version > SCHEMA_VERSION)
    return `is of a newer program (version ${version} of the tables, not ${SCHEMA_VERSION})`;
  const lost = 'forced snapshots, decisions on dead letters and what the feed no longer has';
  return `is of this program's version (${version}): ${lost} would be missing in the new one`;
}

/** Which settings the new views have from the old ones, or from this command. */
function madeText(old: OldViews, { snapshotPeriodUs, dso, migrationId }: DirectoryMade): string {
  return [
    `a snapshot every ${formatDuration(snapshotPeriodUs)}`,
    ...(migrationId === null ? [] : [`feeds without a migration id are of ${migrationId}`]),
    ...(dso === null ? [] : [`the dso is ${dso}`]),
    `the users, the secret and ${old.made.directoryId === undefined ? 'no Kafka group' : 'the Kafka group'} as before`,
  ].join(', ');
}
