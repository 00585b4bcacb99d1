/** PostgreSQL gives an int64 as text. */
export function microsOf(text: string | null): number | null {
  return text === null ? null : Number(text);
}
