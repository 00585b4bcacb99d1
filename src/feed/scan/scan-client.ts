import { z } from 'zod';
import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import { formatTime } from '../../ledger/time.ts';
import {
  AnswerFailure,
  COUNT,
  createJsonClient,
  type JsonClient,
  type JsonClientOptions,
  mayStatusPass,
  type ReadError,
  shortened,
} from '../network/json-client.ts';
import { PAGE_SIZE_MAX } from '../network/snapshot-import.ts';
import { FeedRefused } from '../source.ts';
import type { ScanPosition } from './scan-position.ts';

/** The code of a Scan's error for a snapshot that it does not have; its other errors have none. */
export const SNAPSHOT_NOT_FOUND = 'SNAPSHOT_NOT_FOUND';

/** Of all answers but pages, which are parsed item by item. */
const PARSED_BYTES_MAX = 2 ** 20;

export function createScanClient(
  url: string,
  options: Omit<JsonClientOptions, 'caSetting' | 'readError' | 'parsedBytesMax'>,
): JsonClient {
  return createJsonClient(url, { caSetting: '--scan-ca', readError, parsedBytesMax: PARSED_BYTES_MAX, ...options });
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
    code: status === 404 && own?.startsWith('Failed to find ACS snapshot') ? SNAPSHOT_NOT_FOUND : undefined,
    isTooMuch: status === 503 && /taking too long/.test(said),
    pageSizeMax: status === 400 && pageSizeMax !== undefined ? Number(pageSizeMax) : undefined,
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

/** How many elements to ask a Scan for at once: fewer where it says that so many are too many, or take too long. */
export class PageSize {
  readonly #usual: number;
  #max = PAGE_SIZE_MAX;
  #now: number;
  /** A page of this size does not get any further. */
  #tooSmall = 0;

  constructor(usual: number) {
    this.#usual = usual;
    this.#now = usual;
  }

  /** Reading went on from where a larger page may have been needed. */
  movedOn(): void {
    this.#tooSmall = 0;
  }

  reset(): void {
    this.movedOn();
    this.#now = Math.min(this.#usual, this.#max);
  }

  /** False where it is as large as it may be. */
  grow(): boolean {
    if (this.#now >= this.#max) return false;
    this.#tooSmall = this.#now;
    this.#now = Math.min(this.#now * 2, this.#max);
    return true;
  }

  /** Asks for a page, and for smaller ones where the failure says so. Throws AnswerFailure: with `stop` where the Scan gives none as large as is needed. */
  async ask<Page>(ask: (size: number) => Promise<Page>): Promise<Page> {
    for (;;) {
      try {
        return await ask(this.#now);
      } catch (error) {
        if (!(error instanceof AnswerFailure)) throw error;
        const { pageSizeMax, isTooMuch } = error.about;
        const smaller = pageSizeMax ?? (isTooMuch ? Math.floor(this.#now / 2) : this.#now);
        if (smaller < 1 || smaller >= this.#now) throw error;
        if (pageSizeMax !== undefined) this.#max = pageSizeMax;
        if (smaller <= this.#tooSmall) {
          const pages = `pages of ${this.#tooSmall} updates that all have one record time, and refuses larger ones`;
          throw new AnswerFailure(`it gives ${pages}: read this part of the ledger from files (${error.message})`, {
            cause: error,
            conduct: pageSizeMax === undefined ? 'back off' : 'stop',
          });
        }
        this.#now = smaller;
      }
    }
  }
}
