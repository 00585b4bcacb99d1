import { AnswerFailure } from '../network/failure.ts';
import { isCount, isText, type JsonClient } from '../network/json-client.ts';
import { FeedRefused } from '../source.ts';
import type { ScanCursor } from './cursor.ts';
import type { ScanUpdate } from './updates.ts';

/** Small questions about a Scan's network. Each throws AnswerFailure for an answer without what was asked for. */

export async function askDso(client: JsonClient): Promise<string> {
  return client.askField('/v0/dso-party-id', 'dso_party_id', isText);
}

export async function askMigrationId(client: JsonClient): Promise<number> {
  return client.askField('/v0/migrations/last', 'migration_id', isCount);
}

/** Its release of Splice, such as `0.9.0`; null where it does not say one. */
export async function askVersion(client: JsonClient): Promise<string | null> {
  const version = await client.askField('/version', 'version', isText).catch((error: unknown) => {
    if (error instanceof AnswerFailure) return '';
    throw error;
  });
  return /^[\w.+-]{1,64}$/.test(version) ? version : null;
}

/** What positions belong to: they are the same on every Scan of a network. */
export function identityOf(dso: string): string {
  return `the network of ${dso}`;
}

/**
 * Before the first update of all is read. A Scan gives no imports with its updates, so that of a network which came through a
 * migration the contracts carried over would be missing.
 */
export async function requireBeginning(client: JsonClient): Promise<void> {
  const migrationId = await askMigrationId(client);
  if (migrationId > 0)
    throw new FeedRefused(
      `--start beginning: the network is in migration ${migrationId}, and a Scan does not give what was carried over into it: ` +
        'begin with --start snapshot, or with files that have it',
    );
  if (!(await client.askField('/v0/backfilling/status', 'complete', (value) => typeof value === 'boolean')))
    throw new AnswerFailure(`${client.url}: has not all of the history yet; another Scan may have it`);
}

/** Before what follows a place is read: a Scan in an earlier migration would be asked for ever. */
export async function requireMigration(client: JsonClient, known: number): Promise<void> {
  const migrationId = await askMigrationId(client);
  if (migrationId >= known) return;
  throw new AnswerFailure(
    `${client.url} is in migration ${migrationId}, and what is here is of migration ${known}: name a Scan of the same network, or ` +
      'begin anew elsewhere',
    { conduct: 'stop' },
  );
}

/** Where updates go on in a later migration; null where they do not. A Scan gives no imports with its updates. */
export function enteredMigration(
  updates: readonly ScanUpdate[],
  after: ScanCursor | null,
): { readonly from: number; readonly refusal: FeedRefused } | null {
  const known = after?.migrationId ?? 0;
  const from = updates.findIndex(({ at }) => at !== null && at.migrationId > known);
  if (from === -1) return null;
  const refusal = new FeedRefused(
    `the network goes on in migration ${updates[from]!.at!.migrationId}, and a Scan does not give what was carried over into it: ` +
      'begin anew with --start snapshot, or with files that have its imports and first updates',
  );
  return { from, refusal };
}
