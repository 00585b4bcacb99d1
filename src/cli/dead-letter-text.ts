import { dataDirDefault } from '../config.ts';
import { commandOn, nextText, type PrintCommand, plainCommand } from '../dead-letters/advice-text.ts';
import { placeFacts } from '../dead-letters/place.ts';
import { formatTime } from '../ledger/time.ts';
import type { DeadLetter } from '../views/store/dead-letters.ts';

/** What a terminal would obey, or show in another order than it stands there: controls, line and direction marks. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;
/** The same in JSON, where a line end between tokens is ours and may stay. */
const UNSAFE_IN_JSON = /[^\P{C}\n]|[\u2028\u2029]/gu;

/** Text from a feed as a terminal may show it. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** JSON that is as safe on a terminal as it is for programs. */
export function safeJson(value: unknown): string {
  const escaped = (character: string): string =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join('');
  return `${JSON.stringify(value, null, 2).replace(UNSAFE_IN_JSON, escaped)}\n`;
}

/** Bytes of a message as a terminal may show them: UTF-8 as text, every other byte as `\xNN`. */
export function safeBytes(bytes: Buffer): string {
  const text = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes);
  if (Buffer.from(text).equals(bytes)) return safeText(text);
  return Array.from(bytes, (byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('');
}

/** Commands that name the data directory, unless it is the one they take by themselves. */
export function printOn(dataDir: string): PrintCommand {
  return dataDir === dataDirDefault() ? plainCommand : commandOn(dataDir);
}

/** A dead letter without its bytes, as programs read it. */
export function deadLetterJson(letter: Omit<DeadLetter, 'bytes'>, dataDir: string): Record<string, unknown> {
  return {
    id: letter.id,
    decision: letter.decision,
    kind: letter.kind,
    code: letter.code,
    source: letter.source,
    ...placeFacts(letter),
    offset: letter.offset,
    migration_id: letter.migrationId,
    update_id: letter.updateId,
    record_time: letter.recordTime === null ? null : formatTime(letter.recordTime),
    field: letter.field,
    given: letter.given,
    expected: letter.expected,
    reason: letter.reason,
    sha256: letter.sha256.length === 0 ? null : letter.sha256.toString('hex'),
    length: letter.length,
    created_at: formatTime(letter.createdAt),
    next: nextText(letter, printOn(dataDir)),
  };
}
