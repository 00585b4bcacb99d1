import { isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import { partialDecoder, tryDecode } from '../../decode/decode-message.ts';
import { isObject } from '../../json/untrusted.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { parseLedgerTime } from '../../ledger/time.ts';
import type { Decoded } from '../../ledger/update.ts';
import { containerElements } from '../file/elements.ts';
import { AnswerFailure, type JsonClient } from '../network/json-client.ts';
import { isNoJson, listedIn, PAGE_SIZE_MAX, requireParsable } from '../network/snapshot-import.ts';
import { askPage } from './scan-client.ts';
import { isAhead, type ScanPosition } from './scan-position.ts';

/** An update as a Scan gave it. */
export interface ScanUpdate {
  readonly bytes: Buffer;
  /** Its id, or all of its text where it has none. */
  readonly id: string;
  /** Where its Scan has it. Null where its migration and time cannot be read: then it is bad. */
  readonly at: ScanPosition | null;
  /** How far the ledger is read with it; null where it is bad, or its time cannot be yet. */
  readonly upTo: ScanPosition | null;
  /** Left out where it is bad. */
  readonly decoded?: Decoded;
}

/** The updates of a page, in the Scan's order: by migration, record time and synchronizer. Throws AnswerFailure where it is no page. */
export async function updatesIn(client: JsonClient, page: Buffer): Promise<readonly ScanUpdate[]> {
  try {
    const look = isUtf8(page) ? partialDecoder(page) : undefined;
    const updates: ScanUpdate[] = [];
    for (const { bytes, seen } of containerElements(page, 'page', look)) {
      requireParsable(client, bytes);
      if (updates.length === PAGE_SIZE_MAX)
        throw new AnswerFailure(`${client.url}: answers with more than ${PAGE_SIZE_MAX} updates`);
      updates.push(updateOf(bytes, seen));
      if (updates.length % 50 === 0) await turn();
    }
    if (updates.length === 0) listedIn(client, page, 'transactions');
    return updates;
  } catch (error) {
    if (!isNoJson(error)) throw error;
    throw new AnswerFailure(`${client.url}: answers with what is no page of updates`);
  }
}

/** The first update after a position; undefined where the Scan has none. */
export async function firstAfter(client: JsonClient, after: ScanPosition | null): Promise<ScanUpdate | undefined> {
  return (await updatesIn(client, await askPage(client, { after, pageSize: 1 })))[0];
}

function updateOf(bytes: Buffer, seen: Decoded | undefined): ScanUpdate {
  const decoded = seen ?? tryDecode(bytes, { migrationId: 0 });
  // A bad update must not move the position past all that follows.
  if (decoded instanceof BadUpdate) return { ...undecodedOf(bytes), upTo: null };
  if (decoded.kind !== 'update' || decoded.recordTime === null) return undecodedOf(bytes);
  const { updateId: id, migrationId, recordTime } = decoded;
  const at = { migrationId, recordTime };
  return { bytes, id, at, upTo: possible(at), decoded };
}

/** Record times are not validated yet. */
function possible(at: ScanPosition | null): ScanPosition | null {
  return at === null || isAhead(at, Date.now()) ? null : at;
}

/** Throws a SyntaxError where it is no JSON. */
function undecodedOf(bytes: Buffer): ScanUpdate {
  const value: unknown = JSON.parse(bytes.toString());
  const item = isObject(value) ? value : {};
  const { update_id: id, record_time: time, event } = item;
  const migrationId = isObject(event) ? event.migration_id : item.migration_id;
  const recordTime = typeof time === 'string' ? parseLedgerTime(time) : null;
  const at = typeof migrationId === 'number' && recordTime !== null ? { migrationId, recordTime } : null;
  return { bytes, id: typeof id === 'string' ? id : bytes.toString(), at, upTo: possible(at) };
}
