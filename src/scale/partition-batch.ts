import { decodeMessage } from '../decode/decode-message.ts';
import type { KafkaRecord } from '../feed/kafka/kafka-record.ts';
import { LINE_BYTES_MAX } from '../feed/limits.ts';
import { jsonOrNull } from '../json/untrusted.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { formatTime } from '../ledger/time.ts';
import { Refusal } from '../refusal.ts';
import type { EventTime, FlatEvent } from './flat-event.ts';
import { type FlattenRules, flatten } from './flatten.ts';
import { LateImport, type NewMessage, newIn, timeField, type WasRead } from './import-marker.ts';

/** What decides what a group's events say. */
export interface GroupRules extends Omit<FlattenRules, 'now'> {
  /** The migration of messages that name none. */
  readonly migrationId: number;
  readonly onBadUpdate: 'halt' | 'quarantine';
}

export interface DecodeRules extends GroupRules, Pick<FlattenRules, 'now'> {
  /** Offsets of messages that an operator drops where their partition is halted. */
  readonly dropped: ReadonlySet<number>;
}

export type Decision = 'halted' | 'quarantined' | 'dropped';

/** A message that cannot be decoded, what is wrong with it, and what follows. */
export interface BadMessage {
  readonly record: KafkaRecord;
  readonly fault: BadUpdate;
  readonly decision: Decision;
}

/** How far a partition is decoded. It is the group's offset, with a text that Kafka keeps beside it. */
export interface GroupPosition extends WasRead {
  /** Of the next message, or of the one at which the partition is halted. */
  readonly next: number;
  /** Whether the message at `next` is a dead letter that nobody has dropped. */
  readonly halted: boolean;
}

/** What messages of one partition are decoded to. */
export interface DecodedBatch {
  readonly events: readonly FlatEvent[];
  readonly bad: readonly BadMessage[];
  readonly position: GroupPosition;
  /** Why the message at the position is not passed; null where all were. */
  readonly stoppedBy: BadUpdate | null;
  /** How many messages were passed. */
  readonly messages: number;
}

/**
 * Decodes messages of a partition from its position on, up to the first that halts it. A time ahead of our clock stops it
 * whatever the policy, and is no dead letter: it may come true (docs/rules.md, rule 6).
 */
export function decodeBatch(from: GroupPosition, records: readonly KafkaRecord[], rules: DecodeRules): DecodedBatch {
  const events: FlatEvent[] = [];
  const bad: BadMessage[] = [];
  let { last, begun, seed, halted } = from;
  let messages = 0;
  const ending = (next: number, stoppedBy: BadUpdate | null): DecodedBatch => {
    return { events, bad, position: { next, last, begun, seed, halted }, stoppedBy, messages };
  };
  for (const record of records) {
    // A batch that cannot be read may begin before the position.
    const offset = Math.max(record.offset, from.next);
    const decoded = tryFlatten(record, { last, begun, seed }, rules);
    if (decoded instanceof BadUpdate) {
      const isDropped = rules.dropped.has(offset);
      if (decoded.code === 'ahead_of_clock' && !isDropped) return ending(offset, decoded);
      // A halt is remembered: another policy does not end it.
      const haltsAlways = decoded instanceof LateImport || record.broken !== undefined;
      if ((halted || rules.onBadUpdate === 'halt' || haltsAlways) && !isDropped) {
        if (!halted) bad.push({ record, fault: decoded, decision: 'halted' });
        halted = true;
        return ending(offset, decoded);
      }
      bad.push({ record, fault: decoded, decision: isDropped ? 'dropped' : 'quarantined' });
    } else {
      for (const event of decoded.events) events.push(event);
      const newest = decoded.events.at(-1);
      if (newest !== undefined && isAfter(newest, last)) last = newest;
      if (newest !== undefined && newest.k !== 'T' && newest.t !== null) begun = newest.m;
      seed = decoded.seed;
    }
    halted = false;
    messages += 1;
  }
  const end = records.at(-1);
  return ending(Number(end?.broken?.batch?.resumeToken ?? (end === undefined ? from.next : end.offset + 1)), null);
}

function tryFlatten(
  record: KafkaRecord,
  before: WasRead,
  rules: DecodeRules,
): (Pick<NewMessage, 'seed'> & { readonly events: readonly FlatEvent[] }) | BadUpdate {
  const { bytes, overlong, broken } = record;
  if (broken !== undefined)
    return new BadUpdate('broken_batch', 'batch', `${broken.location}: ${broken.message}`, 'a batch that can be read');
  if (bytes === null) return { events: [], seed: before.seed };
  if (overlong !== undefined) {
    const expected = `a message of at most ${LINE_BYTES_MAX} bytes`;
    return new BadUpdate('overlong', 'message', `${overlong.length} bytes`, expected);
  }
  try {
    const { message, seed } = newIn(decodeMessage(bytes, rules), before);
    const events = (message === null ? [] : flatten(message, rules)).filter(
      (event) => event.k !== 'T' || isAfter(event, before.last),
    );
    if (message !== null && events[0] !== undefined) checkOpen(events[0], before.last, timeField(message));
    return { events, seed };
  } catch (error) {
    if (error instanceof BadUpdate) return error;
    throw error;
  }
}

/**
 * The engine closes an interval once each partition's time is behind it. A message of a closed interval is refused here, where the
 * time reached is stored: an engine that was restarted no longer knows what it had closed. Throws BadUpdate.
 */
function checkOpen({ m, t, seq }: EventTime, last: EventTime | null, field: string): void {
  if (last === null || m > last.m || (m === last.m && seq >= last.seq)) return;
  const given = `${t === null ? 'an import' : formatTime(t)} of migration ${m}`;
  const reached = last.t === null ? 'its imports' : formatTime(last.t);
  const expected =
    `none of an interval before the one that the partition has reached (${reached} of migration ${last.m}): ` +
    'record times must rise in each partition; a message that came before may be dropped';
  throw new BadUpdate('disorder', field, given, expected);
}

/** A checkpoint behind the time reached moves no time (docs/rules.md, rule 4). */
function isAfter({ clk }: EventTime, last: EventTime | null): boolean {
  return last === null || clk > last.clk;
}

const FORM = 3;
/** What all members of a group must agree on. */
export type GroupSettings = Pick<GroupRules, 'dso' | 'periodUs' | 'migrationId'> & { readonly flatTopic: string };

type Kept = GroupSettings & Omit<GroupPosition, 'next'> & { readonly form: typeof FORM };

export function positionText({ last, begun, seed, halted }: GroupPosition, settings: GroupSettings): string {
  const time = last && { m: last.m, t: last.t, clk: last.clk, seq: last.seq };
  const kept: Kept = { form: FORM, ...settings, last: time, begun, seed, halted };
  return JSON.stringify(kept);
}

/** Throws a Refusal where the offset was committed with other settings, or by another program. */
export function readPosition(next: number, text: string | null, settings: GroupSettings, where: string): GroupPosition {
  const kept = jsonOrNull(text ?? 'null') as Kept | null;
  if (kept?.form !== FORM)
    throw new Refusal(
      `${where}: its offset was not committed by this version of holdfast decode; give the decoders a group and a flat topic of their own`,
    );
  for (const [key, option] of SAME) {
    if (kept[key] === settings[key]) continue;
    throw new Refusal(
      `${where}: decoded with ${option} ${kept[key]} before, not ${settings[key]}; ` +
        'one topic must have the events of one decoding only: decode into a new one, with a new group',
    );
  }
  const { last, begun, seed, halted } = kept;
  return { next, last, begun, seed, halted };
}

const SAME = [
  ['flatTopic', '--flat-topic'],
  ['dso', '--dso'],
  ['periodUs', '--snapshot-period in microseconds'],
  ['migrationId', '--migration-id'],
] as const;
