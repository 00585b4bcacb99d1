import { tryDecode } from '../../decode/decode.ts';
import { OwnEvents } from '../../feed/ledger-api/followed-parties.ts';
import type { LedgerApiSettings } from '../../feed/ledger-api/participant-settings.ts';
import { openLedgerApiSource } from '../../feed/ledger-api/participant-source.ts';
import { AnswerFailure } from '../../feed/network/answer-failure.ts';
import { LANE } from '../../feed/network/snapshot-import.ts';
import { FeedRefused, type Message, type SourceStart } from '../../feed/source.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { Refusal } from '../../refusal.ts';
import { batchesOf, type NetworkLines, type NetworkReading, storedUpTo, type Written } from './network-source.ts';

/** Where lines of a participant end. */
interface WrittenEnd {
  readonly offset: number;
  /** The last update and its offset, which the participant must know too; null where none is among the last lines. */
  readonly update: { readonly id: string; readonly offset: number } | null;
  /** The participant that a seed's mark names; null where none is among the last lines. */
  readonly participantId: string | null;
}

/** A participant's updates without the events of owners that are not followed, behind what was written of it. */
export function openParticipantLines(
  written: Written,
  settings: LedgerApiSettings,
  migrationId: number,
  reading: NetworkReading,
): NetworkLines {
  const end = endOf(written);
  const isHalfSeed = end === 'half a seed';
  const from = isHalfSeed ? null : end;
  if (from !== null && settings.parties === 'all')
    throw new Refusal(
      `${written.name}: cannot be continued with --ledger-api-parties all, because it does not say who was followed; name the parties`,
    );
  // The last update once more, which shows that it is the same participant.
  const cursor = from === null ? null : String(from.update === null ? from.offset : from.update.offset - 1);
  const stored = storedUpTo(LANE, cursor);
  const context = { stored, reached: null, furthest: null, directoryId: '', migrationId, logger: reading.logger };
  const source = openLedgerApiSource(settings, context);

  async function ownEvents({ followed, identity }: SourceStart): Promise<OwnEvents> {
    const own = new OwnEvents(followed!);
    if (from === null) return own;
    if (from.participantId !== null && !identity.endsWith(from.participantId)) throw otherParticipant(written);
    for await (const page of source.activeAt(from.offset, reading.stop)) for (const each of page) own.of(each);
    return own;
  }

  async function* read(): ReturnType<NetworkLines['read']> {
    let own: OwnEvents | null = null;
    let isSame = from === null || from.update === null;
    try {
      for await (const batch of batchesOf(source, reading)) {
        if ('identity' in batch) {
          const hasBegun = own !== null;
          own = await ownEvents(batch);
          if (!hasBegun) yield 'begins';
          if (batch.anew === true) yield 'anew';
          continue;
        }
        const fresh = batch.filter((message) => {
          if (from === null) return true;
          isSame ||= isOf(message, from);
          if (!isSame) throw otherParticipant(written);
          return Number(message.cursor) > from.offset;
        });
        const lines = fresh.flatMap((message) => own!.of(message) ?? []);
        if (lines.length > 0) yield lines;
        if (batch.length > 0) source.stored?.(new Map([[LANE, batch.at(-1)!.cursor!]]));
      }
    } catch (error) {
      if (reading.stop.aborted) return;
      if (error instanceof FeedRefused || error instanceof AnswerFailure)
        throw new Refusal(error.message, { cause: error });
      throw error;
    }
  }

  return { isHalfSeed, read, lagSeconds: () => source.telemetry?.().lagSeconds ?? null };
}

function otherParticipant({ name, otherwise }: Written): Refusal {
  return new Refusal(`${name}: its last update is not one of this participant, whose offsets are others; ${otherwise}`);
}

/** The first message behind the place before it must be the last update written. */
function isOf({ decoded }: Message, { update }: WrittenEnd): boolean {
  return decoded?.kind === 'update' && decoded.offset === update?.offset && decoded.updateId === update?.id;
}

/** The furthest end of what was written; null where there is nothing. */
function endOf({ ends, name, otherwise }: Written): WrittenEnd | 'half a seed' | null {
  let furthest: WrittenEnd | null = null;
  for (const lines of ends) {
    let [offset, isSeed]: [number | null, boolean] = [null, false];
    let [update, participantId]: [WrittenEnd['update'], string | null] = [null, null];
    for (const line of lines) {
      const decoded = tryDecode(line, { migrationId: 0 });
      isSeed = !(decoded instanceof BadUpdate) && decoded.kind === 'update' && decoded.seed !== undefined;
      if (decoded instanceof BadUpdate || decoded.kind === 'ignored') continue;
      if (decoded.offset != null) offset = decoded.offset;
      if (decoded.kind === 'update' && decoded.offset != null)
        update = { id: decoded.updateId, offset: decoded.offset };
      if (decoded.kind === 'seed mark') participantId = markedParticipant(line);
    }
    if (isSeed) return 'half a seed';
    if (lines.length > 0 && offset === null)
      throw new Refusal(`${name}: it ends with no update of a participant; ${otherwise}`);
    if (offset !== null && (furthest === null || offset > furthest.offset))
      furthest = { offset, update, participantId };
  }
  return furthest;
}

function markedParticipant(line: Uint8Array): string | null {
  const { seed } = JSON.parse(Buffer.from(line).toString()) as { seed: { participant_id?: unknown } };
  return typeof seed.participant_id === 'string' ? seed.participant_id : null;
}
