import type { Place } from '../flat/place.ts';
import { Refusal } from '../refusal.ts';

/** What all members of a group must agree on, because it decides what their events say. */
export interface GroupSettings {
  readonly dso: string;
  readonly periodUs: number;
  readonly migrationId: number;
}

/** How far a partition is decoded. It is the group's offset, with a text that Kafka keeps beside it. */
export interface Position {
  /** Of the next message, or of the one at which the partition is halted. */
  readonly next: number;
  /** The last time of the messages before; null where none has one. */
  readonly last: Place | null;
  /** Whether the message at `next` is a dead letter that nobody has dropped. */
  readonly halted: boolean;
}

const FORM = 1;

interface Kept extends GroupSettings {
  readonly form: typeof FORM;
  readonly last: Place | null;
  readonly halted: boolean;
}

export function positionText({ last, halted }: Position, { dso, periodUs, migrationId }: GroupSettings): string {
  const place = last && { m: last.m, t: last.t, clk: last.clk, seq: last.seq };
  return JSON.stringify({ form: FORM, dso, periodUs, migrationId, last: place, halted } satisfies Kept);
}

/** Throws a Refusal where the offset was committed with other settings, or by another program. */
export function readPosition(next: number, text: string | null, settings: GroupSettings, where: string): Position {
  const kept = parse(text);
  if (kept?.form !== FORM) {
    throw new Refusal(
      `${where}: its offset was not committed by holdfast decode; give the decoders a group of their own`,
    );
  }
  for (const [key, option] of SAME) {
    if (kept[key] === settings[key]) continue;
    throw new Refusal(
      `${where}: decoded with ${option} ${kept[key]} before, not ${settings[key]}; ` +
        'events of both cannot be in one topic: decode into a new one, with a new group',
    );
  }
  return { next, last: kept.last, halted: kept.halted };
}

const SAME = [
  ['dso', '--dso'],
  ['periodUs', '--snapshot-period in microseconds'],
  ['migrationId', '--migration-id'],
] as const;

function parse(text: string | null): Kept | null {
  try {
    return JSON.parse(text ?? 'null') as Kept | null;
  } catch {
    return null;
  }
}
