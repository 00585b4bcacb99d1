import { tryDecode } from '../../decode/decode.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { IN_SEED, isAhead, type ScanCursor } from './cursor.ts';

/**
 * The place after a line of a feed. Null for what is no update, for one that is bad or whose time cannot be yet, and for the
 * imports of a migration, which have no place.
 */
export function placeOfLine(line: Uint8Array): ScanCursor | typeof IN_SEED | null {
  const decoded = tryDecode(line, { migrationId: 0 });
  if (decoded instanceof BadUpdate || decoded.kind === 'ignored' || decoded.kind === 'checkpoint') return null;
  const { recordTime, migrationId } = decoded;
  if (recordTime === null) return decoded.kind === 'update' && decoded.seed !== undefined ? IN_SEED : null;
  const place = { migrationId, recordTime };
  return isAhead(place, Date.now()) ? null : place;
}

/** That of the last line that has one. */
export function lastPlace(lines: readonly Uint8Array[]): ScanCursor | typeof IN_SEED | null {
  for (const line of lines.toReversed()) {
    const place = placeOfLine(line);
    if (place !== null) return place;
  }
  return null;
}

/** The DSOs that have signed the coins and rounds created in a line. */
export function dsosOf(line: Uint8Array): readonly string[] {
  const decoded = tryDecode(line, { migrationId: 0 });
  if (decoded instanceof BadUpdate || decoded.kind !== 'update') return [];
  return decoded.events.flatMap((event) => {
    if (event.kind === 'archive') return [];
    const { dso, signatories } = event;
    return signatories instanceof BadUpdate || !signatories.includes(dso) ? [] : [dso];
  });
}
