import { jsonOrNull } from '../json/untrusted.ts';
import { Refusal } from '../refusal.ts';
import type { WasRead } from './import-marker.ts';

/** What all members of a group must agree on, because it decides what their events say. */
export interface GroupSettings {
  readonly flatTopic: string;
  readonly dso: string;
  readonly periodUs: number;
  readonly migrationId: number;
}

/** How far a partition is decoded. It is the group's offset, with a text that Kafka keeps beside it. */
export interface GroupPosition extends WasRead {
  /** Of the next message, or of the one at which the partition is halted. */
  readonly next: number;
  /** Whether the message at `next` is a dead letter that nobody has dropped. */
  readonly halted: boolean;
}

const FORM = 3;

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
