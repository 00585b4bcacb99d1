import { Refusal } from '../../refusal.ts';

/** A feed without migration ids, in a directory with a migration above 0, and without `--migration-id`. */
export class MigrationIdMissing extends Refusal {
  constructor(feed: string, knownMigration: number) {
    super(
      `--migration-id is required: ${feed} has updates of the Ledger API form, which have no migration id, after updates ` +
        `of migration ${knownMigration}; give the id of the migration that they belong to`,
    );
    this.name = 'MigrationIdMissing';
  }
}

/** What the views know when a message without migration id comes. */
export interface KnownMigrations {
  readonly given: number | null;
  readonly stored: number | null;
  readonly migrations: Iterable<number>;
}

/** Before such a message is applied (docs/rules.md, rule 11). `feed`: its name in the refusal. */
export function requireSourceMigration(feed: string, { given, stored, migrations }: KnownMigrations): void {
  if (given !== null || stored !== null) return;
  const newest = Math.max(0, ...migrations);
  if (newest > 0) throw new MigrationIdMissing(feed, newest);
}
