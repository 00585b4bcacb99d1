import type { AnswerFailure } from '../network/failure.ts';
import { FeedRefused } from '../source.ts';
import type { LedgerApiSettings } from './settings.ts';

/** Of a failure that stops the reading: what was found, and what to do. `offset`: behind which updates were asked for. */
export function refusalOf(
  { message, cause, about: { code, context, isDenied } }: AnswerFailure,
  { offset, parties }: { offset: number | null; parties: LedgerApiSettings['parties'] },
): FeedRefused {
  const refused = (text: string): FeedRefused => Object.assign(new FeedRefused(text), { cause });
  if (code === 'PARTICIPANT_PRUNED_DATA_ACCESSED') {
    const earliest = context.earliest_offset;
    const upTo = typeof earliest === 'string' || typeof earliest === 'number' ? ` up to offset ${earliest}` : '';
    return refused(
      `the participant has removed its updates${upTo}, and these views continue behind offset ${offset}: what was between ` +
        `is lost here; begin a new --data directory with --start snapshot (${message})`,
    );
  }
  if (code === 'OFFSET_AFTER_LEDGER_END') return pastEnd(offset, message);
  if (isDenied) {
    const right =
      parties === 'all'
        ? 'CanReadAsAnyParty, and ParticipantAdmin to list the parties'
        : 'CanReadAs for each of --ledger-api-parties';
    return refused(`${message}: the user of the token needs ${right}`);
  }
  return refused(message);
}

export function pastEnd(offset: number | null, what: string): FeedRefused {
  return new FeedRefused(
    `offset ${offset}, behind which these views continue, is past the end of this participant (${what}): it is another one, ` +
      'or was restored from a backup; name the right one, or begin a new --data directory',
  );
}
