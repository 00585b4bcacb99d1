/** What V8 says of text that JSON.parse refuses. Its errors have no codes, so their words are read, here and nowhere else. */
const PLACE = / at position (\d+)/;
const ENDED = 'Unexpected end of JSON input';
const EXCERPT = /, (?:\.\.\.)?".*$/s;

/** The index where text stops being JSON; `end` where it only ended too early, null where V8 does not say. */
export function parseErrorAt({ message }: Error): number | 'end' | null {
  const at = PLACE.exec(message)?.[1];
  if (at !== undefined) return Number(at);
  return message === ENDED ? 'end' : null;
}

/** The words without what they repeat of the text, which may be a secret: `..."secret": x"... is not valid JSON`. */
export function withoutExcerpt({ message }: Error): string {
  return message.replace(EXCERPT, '');
}
