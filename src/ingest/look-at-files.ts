import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { viewsFile } from '../views/store/database.ts';
import { requireSourceMigration } from '../views/write/source-start.ts';
import type { ViewsWriter } from '../views/write/writer.ts';
import { refuseDisorder } from './file-order.ts';

/** Before a data directory is made: none is for files that are out of order or no feed. */
export async function lookBeforeMaking(
  dataDir: string,
  files: readonly string[],
  { migrationId, signal }: { migrationId: number | null; signal: AbortSignal },
): Promise<void> {
  if (existsSync(viewsFile(dataDir))) return;
  await refuseDisorder(files, { migrationId: migrationId ?? 0, signal, isFirst: true });
}

/**
 * Before files are applied to the views: throws a Refusal where they are out of order, where the first are no feed, or where a file carries no migration
 * id and the views would have to guess it. Only the start of each file is read.
 */
export function lookAtFiles(
  files: readonly string[],
  writer: ViewsWriter,
  { migrationId: given, signal }: { migrationId: number | null; signal: AbortSignal },
): Promise<void> {
  const { sourceMigrationId, deadLetters } = writer;
  const migrations = new Set(writer.state.migrations.keys());
  let stored = writer.state.sourceMigrationId;
  return refuseDisorder(files, {
    migrationId: sourceMigrationId,
    signal,
    isFirst: migrations.size === 0,
    isLeftOut: (bytes) =>
      deadLetters.mayBeDecided(bytes.length) && deadLetters.isDecided(hash('sha256', bytes, 'buffer')),
    onMessage: (message, file) => {
      if (message.kind === 'ignored' || message.kind === 'seed mark') return;
      const carriesNone = message.format === 'ledger-api';
      if (carriesNone) requireSourceMigration(file, { given, stored, migrations });
      if (message.kind === 'checkpoint') return;
      if (carriesNone) stored ??= sourceMigrationId;
      migrations.add(message.migrationId);
    },
  });
}
