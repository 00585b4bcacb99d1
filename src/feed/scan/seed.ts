import { tryDecode } from '../../decode/decode.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { parseLedgerTime } from '../../ledger/time.ts';
import { AnswerFailure } from '../network/failure.ts';
import { isObject, type JsonAnswer, type JsonClient } from '../network/json-client.ts';
import type { Message } from '../source.ts';
import type { SeedPlace } from './cursor.ts';
import type { Scans } from './network.ts';
import { PageSize } from './page-size.ts';
import type { SeedCheck } from './seed-check.ts';
import { listedIn } from './updates.ts';

const TEMPLATES = [
  'splice-amulet:Splice.Amulet:Amulet',
  'splice-amulet:Splice.Amulet:LockedAmulet',
  'splice-amulet:Splice.Round:OpenMiningRound',
];

/** The newest snapshot of a migration. `before`: our clock, milliseconds. */
async function askSeedPlace(client: JsonClient, migrationId: number, before = Date.now()): Promise<SeedPlace> {
  const time = encodeURIComponent(new Date(before).toISOString());
  const path = `/v0/state/acs/snapshot-timestamp?before=${time}&migration_id=${migrationId}`;
  const { value } = await client.ask(path).catch((error: unknown) => {
    throw mayCome(error, `has no snapshot of migration ${migrationId} yet`);
  });
  const text = isObject(value) ? value.record_time : undefined;
  const recordTime = typeof text === 'string' ? parseLedgerTime(text) : null;
  if (recordTime === null) throw new AnswerFailure(`${client.url}: answers without the time of its snapshot`);
  return { migrationId, recordTime, text: text as string };
}

/** The newest snapshot of a Scan that as many of them have as are needed. */
export async function askCommonSeedPlace(
  client: JsonClient,
  migrationId: number,
  { clients, needed }: Scans,
): Promise<SeedPlace> {
  if (needed === 1) return askSeedPlace(client, migrationId);
  const told = await Promise.allSettled(clients.map((each) => askSeedPlace(each, migrationId)));
  const newest = told.flatMap((each) => (each.status === 'fulfilled' ? [each.value.recordTime] : []));
  const common = newest.sort((a, b) => b - a)[needed - 1];
  if (common === undefined)
    throw new AnswerFailure(`${client.url}: only ${newest.length} of ${clients.length} Scans have a snapshot`);
  // To the millisecond above: snapshots are hours apart.
  return askSeedPlace(client, migrationId, Math.ceil(common / 1000));
}

/** A page of a snapshot is gone: snapshots are removed in time, and another one can be read. */
export function mayCome(error: unknown, what: string): unknown {
  if (!(error instanceof AnswerFailure) || error.about.status !== 404) return error;
  return new AnswerFailure(`${what} (${error.message})`, { cause: error });
}

/** What of a message the caller does not know. */
export type SeedMessage = Pick<Message, 'bytes' | 'decoded'>;

/**
 * The coins and rounds of a snapshot as imports of a seed, a page at a time. `ask` may try again: the Scan stays the same, because
 * each numbers its pages for itself.
 */
export async function* seedPages(
  client: JsonClient,
  { text, migrationId }: SeedPlace,
  { pageSize, check, ask }: { pageSize: number; check: SeedCheck; ask: <T>(step: () => Promise<T>) => Promise<T> },
): AsyncGenerator<readonly SeedMessage[]> {
  const size = new PageSize(pageSize);
  const asked = { migration_id: migrationId, record_time: text, templates: TEMPLATES };
  let after: unknown = null;
  do {
    const more = after === null ? asked : { ...asked, after };
    const answer: JsonAnswer = await ask(() =>
      size.ask((page_size) => client.ask('/v1/state/acs', { ...more, page_size })),
    ).catch((error: unknown) => {
      throw mayCome(error, `the snapshot of ${text} is gone`);
    });
    yield listedIn(client, answer, 'created_events').map(({ bytes, value }) => {
      const message = Buffer.from(importText(bytes, value, migrationId));
      const decoded = tryDecode(message, { migrationId });
      // What is bad is decoded again and judged where every message is.
      if (decoded instanceof BadUpdate) return { bytes: message };
      check.add(decoded);
      return { bytes: message, decoded };
    });
    after = (answer.value as Record<string, unknown>).next_page_token ?? null;
  } while (after !== null);
}

/** An active contract as an import of a seed, with all of its own text: nothing of its payload is written anew. */
function importText(contract: Buffer, value: unknown, migrationId: number): string {
  const { contract_id: given, created_in_update_id: made } = isObject(value) ? value : {};
  const id = JSON.stringify(typeof given === 'string' ? given : '');
  const event = JSON.stringify(`${typeof given === 'string' ? given : ''}:0`);
  // Older Scans wrote other values there, with a # before them.
  const createdIn =
    typeof made === 'string' && !made.startsWith('#') ? `"created_in_update_id":${JSON.stringify(made)},` : '';
  return (
    `{"update_id":${id},"migration_id":${migrationId},"record_time":"0001-01-01T00:00:00.000000Z","seed":true,${createdIn}` +
    `"root_event_ids":[${event}],"events_by_id":{${event}:{"event_type":"created_event","event_id":${event},` +
    `${contract.toString().slice(1)}}}`
  );
}

/** The end of a seed (docs/rules.md, rule 13). */
export function seedMark(client: JsonClient, { migrationId, text }: SeedPlace): Buffer {
  const seed = { migration_id: migrationId, record_time: text, synchronizer_times: [], source: `scan ${client.url}` };
  return Buffer.from(JSON.stringify({ seed }));
}
