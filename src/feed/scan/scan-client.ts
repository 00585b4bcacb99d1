import { z } from 'zod';
import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import { formatTime } from '../../ledger/time.ts';
import { AnswerFailure, mayStatusPass } from '../network/answer-failure.ts';
import {
  COUNT,
  createJsonClient,
  type JsonClient,
  type JsonClientOptions,
  type ReadError,
  shortened,
} from '../network/json-client.ts';
import { FeedRefused } from '../source.ts';
import type { ScanPosition } from './scan-position.ts';

/** The code of a Scan's error for a snapshot that it does not have; its other errors have none. */
export const SNAPSHOT_NOT_FOUND = 'SNAPSHOT_NOT_FOUND';

/** Of all answers but pages, which are parsed item by item. */
const PARSED_BYTES_MAX = 2 ** 20;

const NAMES = { url: '--scan', ca: '--scan-ca' };

export function createScanClient(
  url: string,
  options: Omit<JsonClientOptions, 'names' | 'readError' | 'parsedBytesMax'>,
): JsonClient {
  return createJsonClient(url, { names: NAMES, readError, parsedBytesMax: PARSED_BYTES_MAX, ...options });
}

const readError: ReadError = (status, body) => {
  const answer = jsonOrNull(body.toString());
  const own = isObject(answer) && typeof answer.error === 'string' ? answer.error : null;
  const said = shortened(own ?? body.toString());
  const [, pageSizeMax] = /Exceeded limit maximum \(\d+ > (\d+)\)/.exec(said) ?? [];
  // A 404 without an error of a Scan comes from a proxy.
  const passes = mayStatusPass(status) || (status === 404 && own === null);
  return {
    said,
    advice: status === 403 ? ': it lets in listed addresses only, and its operator has to add ours' : '',
    conduct: passes ? 'back off' : 'stop',
    code: status === 404 && own?.startsWith('Failed to find ACS snapshot') ? SNAPSHOT_NOT_FOUND : null,
    isTooMuch: status === 503 && /taking too long/.test(said),
    pageSizeMax: status === 400 && pageSizeMax !== undefined ? Number(pageSizeMax) : null,
  };
};

export async function askMigrationId(client: JsonClient): Promise<number> {
  return (await client.ask('/v0/migrations/last', z.object({ migration_id: COUNT }))).migration_id;
}

/** A page of updates as its Scan sends it. */
export function askPage(
  client: JsonClient,
  { after, pageSize }: { after: ScanPosition | null; pageSize: number },
): Promise<Buffer> {
  const behind = after && { after_migration_id: after.migrationId, after_record_time: formatTime(after.recordTime) };
  return client.askBytes('/v2/updates', {
    page_size: pageSize,
    ...(behind && { after: behind }),
    daml_value_encoding: 'compact_json',
  });
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
  const { complete } = await client.ask('/v0/backfilling/status', z.object({ complete: z.boolean() }));
  if (!complete) throw new AnswerFailure(`${client.url}: has not all of the history yet; another Scan may have it`);
}

/** Before the updates after a position are read: a Scan in an earlier migration would be asked for ever. */
export async function requireMigration(client: JsonClient, known: number): Promise<void> {
  const migrationId = await askMigrationId(client);
  if (migrationId >= known) return;
  throw new AnswerFailure(
    `${client.url} is in migration ${migrationId}, and what is here is of migration ${known}: name a Scan of the same network, or ` +
      'use a new --data directory',
    { conduct: 'stop' },
  );
}
