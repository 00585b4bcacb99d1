import { hash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { tryDecode } from '../decode/decode-message.ts';
import { openFileSource } from '../feed/file/file-source.ts';
import { BrokenContainer } from '../feed/source.ts';
import { BadUpdate, type FaultCode } from '../ledger/bad-update.ts';
import { formatTime, type Micros } from '../ledger/time.ts';
import type { Decoded } from '../ledger/update.ts';
import { Refusal } from '../refusal.ts';
import { viewsFile } from '../views/store/database.ts';
import { requireSourceMigration } from '../views/write/source-start.ts';
import type { ViewsWriter } from '../views/write/writer.ts';

/**
 * How much of each file's content is read here: a hundred updates of the real network, in some ten milliseconds. A
 * synchronizer that first occurs after it is not compared; if its files are out of order, the first update that comes too
 * late halts the ingest.
 */
const HEAD_BYTES = 2 ** 20;
const CHUNK_BYTES = 2 ** 18;

/** How a file begins in one migration: with imports, or with the first record time of each synchronizer. */
type Beginning = 'imports' | Map<string, Micros>;

/** The latest file with a synchronizer, and its first update there. */
interface Met {
  readonly file: string;
  readonly recordTime: Micros;
}

/** What is wrong with a first message that is of no feed at all. */
const NO_FEED: readonly FaultCode[] = ['not_json', 'not_utf8', 'not_a_feed'];

/**
 * Reads the start of each file, in the order given, before anything is applied. Throws a Refusal where one begins before an
 * earlier one (docs/rules.md, rule 1): what is between would never be applied. Pipes, and what cannot be read or decoded,
 * are left out here; but where nothing was applied yet, a file whose first message is of no feed is refused too.
 */
export async function refuseDisorder(
  files: readonly string[],
  { onMessage = () => {}, ...reading }: LookOptions,
): Promise<void> {
  const met = new Map<number, Map<string, Met>>();
  for (const file of files) {
    const beginnings = new Map<number, Beginning>();
    for await (const message of decodedHead(file, reading)) {
      onMessage(message, file);
      if (message.kind === 'update') noteBeginning(beginnings, message);
    }
    for (const [migrationId, beginning] of beginnings) {
      const earlier = met.get(migrationId) ?? new Map<string, Met>();
      met.set(migrationId, earlier);
      compare(earlier, { file, migrationId, beginning });
    }
  }
}

export interface LookOptions {
  /** The migration of messages that name none. */
  readonly migrationId: number;
  readonly signal: AbortSignal;
  /** Whether nothing was applied yet: the wrong file is then likely, and nothing of it needs to be kept. */
  readonly isFirst?: boolean;
  /** Whether a message of these bytes was dropped or quarantined before. */
  readonly isLeftOut?: (bytes: Uint8Array) => boolean;
  /** Called with each decoded message. */
  readonly onMessage?: (message: Decoded, file: string) => void;
}

async function* decodedHead(
  file: string,
  { migrationId, signal, isFirst = false, isLeftOut = () => false }: Omit<LookOptions, 'onMessage'>,
): AsyncGenerator<Decoded> {
  try {
    if (file === '-' || !statSync(file).isFile()) return;
    const source = openFileSource(file, { headBytes: HEAD_BYTES, chunkBytes: CHUNK_BYTES });
    let mustBeFeed = isFirst;
    for await (const messages of source.batches(signal)) {
      for (const { bytes, overlong, offset } of messages) {
        if (bytes === null || overlong !== undefined || isLeftOut(bytes)) continue;
        const message = tryDecode(bytes, { migrationId });
        if (!(message instanceof BadUpdate)) yield message;
        else if (mustBeFeed && NO_FEED.includes(message.code))
          throw new Refusal(`${file} is not a feed: line ${offset} is ${message.given}, expected ${message.expected}`);
        mustBeFeed = false;
      }
    }
  } catch (error) {
    if (!isOfTheFile(error)) throw error;
  }
}

/** A container that is cut off, as each is after the part read here; or the system's error about a file. */
function isOfTheFile(error: unknown): boolean {
  if (error instanceof BrokenContainer) return true;
  return error instanceof Error && (error as NodeJS.ErrnoException).syscall !== undefined;
}

function noteBeginning(beginnings: Map<number, Beginning>, update: Extract<Decoded, { kind: 'update' }>): void {
  const { migrationId, synchronizerId, recordTime } = update;
  const known = beginnings.get(migrationId) ?? (recordTime === null ? 'imports' : new Map<string, Micros>());
  beginnings.set(migrationId, known);
  if (known !== 'imports' && recordTime !== null && !known.has(synchronizerId)) known.set(synchronizerId, recordTime);
}

/** Imports come before everything of their migration, so a file that begins with them is after no other. */
function compare(
  earlier: Map<string, Met>,
  { file, migrationId, beginning }: { file: string; migrationId: number; beginning: Beginning },
): void {
  if (beginning === 'imports') {
    const [behind] = earlier.values();
    if (behind === undefined) return;
    throw outOfOrder(file, behind.file, `it begins with imports of migration ${migrationId}, and that one does not`);
  }
  for (const [synchronizerId, recordTime] of beginning) {
    const behind = earlier.get(synchronizerId);
    if (behind !== undefined && recordTime < behind.recordTime) {
      const [first, other] = [formatTime(recordTime), formatTime(behind.recordTime)];
      const where = `of synchronizer ${synchronizerId} in migration ${migrationId}`;
      throw outOfOrder(
        file,
        behind.file,
        `its first update ${where} has the record time ${first}, that of the other ${other}`,
      );
    }
    earlier.set(synchronizerId, { file, recordTime });
  }
}

function outOfOrder(file: string, earlier: string, why: string): Refusal {
  return new Refusal(
    `${file} is given after ${earlier} and begins before it: ${why}; give the files in the order of their updates`,
  );
}

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
    ...(deadLetters.anyDecided && {
      isLeftOut: (bytes: Uint8Array) =>
        deadLetters.mayBeDecided(bytes.length) && deadLetters.isDecided(hash('sha256', bytes, 'buffer')),
    }),
    onMessage: (message, file) => {
      if (message.kind === 'ignored' || message.kind === 'import marker') return;
      const carriesNone = message.format === 'ledger-api';
      if (carriesNone) requireSourceMigration(file, { given, stored, migrations });
      if (message.kind === 'checkpoint') return;
      if (carriesNone) stored ??= sourceMigrationId;
      migrations.add(message.migrationId);
    },
  });
}
