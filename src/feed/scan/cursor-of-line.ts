import { tryDecode } from '../../decode/decode.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { cursorText, IN_SEED } from './cursor.ts';

/** The cursor after a line of a feed; null for what is no update, and for the imports of a migration, which have no place. */
export function cursorOfLine(line: Uint8Array): string | null {
  const decoded = tryDecode(line, { migrationId: 0 });
  if (decoded instanceof BadUpdate || decoded.kind === 'ignored' || decoded.kind === 'checkpoint') return null;
  if (decoded.kind === 'seed mark') return cursorText(decoded);
  const { recordTime, migrationId, seed } = decoded;
  if (recordTime !== null) return cursorText({ migrationId, recordTime });
  return seed === undefined ? null : IN_SEED;
}
