/** Characters that a terminal would obey, or that change the order of what it shows: controls, line and direction marks. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;
/** Such characters in JSON, where line ends between tokens are ours and may stay. */
const UNSAFE_IN_JSON = /[^\P{C}\n]|[\u2028\u2029]/gu;

/** Text from a feed, made safe for a terminal. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** JSON, made safe for a terminal, with the same meaning. */
export function safeJson(value: unknown): string {
  const escaped = (character: string): string =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join('');
  return `${JSON.stringify(value, null, 2).replace(UNSAFE_IN_JSON, escaped)}\n`;
}

/** Bytes of a message, made safe for a terminal: UTF-8 as text, every other byte as `\xNN`. */
export function safeBytes(bytes: Buffer): string {
  const text = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes);
  if (Buffer.from(text).equals(bytes)) return safeText(text);
  return Array.from(bytes, (byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('');
}
