/** Reads V8's errors about text that JSON.parse refuses. They have no codes, so their words are read, here and nowhere else. */
const PLACE = / at position (\d+)/;
const ENDED = 'Unexpected end of JSON input';
const EXCERPT = /, (?:\.\.\.)?".*$/s;

/** The index where text stops being JSON; `end` where it only ended too early, null where V8 does not say. */
export function parseErrorAt({ message }: Error): number | 'end' | null {
  const at = PLACE.exec(message)?.[1];
  if (at !== undefined) return Number(at);
  return message === ENDED ? 'end' : null;
}

/** The message without the part of the text that it quotes, which may be a secret: `..."secret": x"... is not valid JSON`. */
export function withoutExcerpt({ message }: Error): string {
  return message.replace(EXCERPT, '');
}
