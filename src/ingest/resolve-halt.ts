import { tryDecode } from '../decode/decode-message.ts';
import { decodeBatch } from '../feed/decoded-batch.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { Refusal } from '../refusal.ts';
import { requireViews } from '../views/store/database.ts';
import type { DeadLetter, DeadLetterKind } from '../views/store/dead-letter-store.ts';
import { lockForWriting } from '../views/store/writer-lock.ts';
import { ViewsWriter, type WriterOptions } from '../views/write/writer.ts';

/** How a halt was resolved. `bad`: what is still wrong with the message; then nothing has changed. */
export interface Retried {
  readonly deadLetter: DeadLetter;
  readonly bad: string | null;
}

/** Applies the stored bytes of the halted message at its own place. Throws a Refusal where nothing is halted, or the writer's lock is taken. */
export function retryHalted(dataDir: string, options: WriterOptions): Retried {
  requireViews(dataDir);
  using _lock = lockForWriting(dataDir);
  using writer = new ViewsWriter(dataDir, options);
  const deadLetter = writer.deadLetters.halted();
  if (deadLetter === null) throw new Refusal('nothing is halted, so there is nothing to retry');
  const unfit = NOT_RETRIED[deadLetter.kind];
  if (unfit !== undefined) return { deadLetter, bad: unfit };
  const { resumeToken, ...message } = deadLetter;
  const alone = resumeToken === null ? message : { ...message, resumeToken };
  const batch = decodeBatch([alone], Buffer.alloc(0), writer.sourceMigrationId);
  return { deadLetter, bad: writer.retry(deadLetter, batch)?.message ?? null };
}

/** Why dead letters of a kind have nothing to apply. */
const NOT_RETRIED: Partial<Record<DeadLetterKind, string>> = {
  container: 'a broken container or batch keeps no bytes',
  overlong: 'only the start of an over-long message is kept: it can only be dropped',
};

/** Dropping a message depends on no setting: these are never read. */
const NO_SETTINGS: WriterOptions = {
  snapshotPeriodUs: null,
  dso: null,
  migrationId: null,
  onBadUpdate: 'halt',
  recordTimeGapMaxUs: 0,
  recordTimeAheadMaxUs: 0,
  now: () => 0,
};

/** Ends the halt of that dead letter without its message. False where it is not what is halted, and then nothing has changed. */
export function dropHalted(dataDir: string, id: number): boolean {
  requireViews(dataDir);
  using _lock = lockForWriting(dataDir);
  using writer = new ViewsWriter(dataDir, NO_SETTINGS);
  const deadLetter = writer.deadLetters.halted();
  if (deadLetter?.id !== id) return false;
  writer.resolve(deadLetter, 'dropped', { moveOn: true });
  return true;
}

/** What a message says about coins; null where it cannot be read. */
export function coinsOf(deadLetter: DeadLetter): { readonly creates: number; readonly archives: number } | null {
  const decoded = tryDecode(deadLetter.bytes, { migrationId: deadLetter.migrationId ?? 0 });
  if (decoded instanceof BadUpdate) return null;
  const events = decoded.kind === 'update' ? decoded.events.filter((event) => !('ignoredAs' in event)) : [];
  const archives = events.filter(({ kind }) => kind === 'archive').length;
  return { creates: events.length - archives, archives };
}
