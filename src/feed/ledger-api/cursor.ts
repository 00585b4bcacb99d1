/** The cursor within a seed: without its mark it is begun anew. */
export const IN_SEED = 'seed';

/** The one lane: a participant has all its updates in one order. */
export const LANE = 'updates';

/** A cursor is the offset up to which everything is read, in digits. Null for a cursor that is no offset yet. */
export function parseCursor(text: string): number | null {
  if (text === IN_SEED) return null;
  if (!/^\d{1,16}$/.test(text)) throw new Error(`a stored cursor of a participant that is none: ${text}`);
  return Number(text);
}
