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
export function deadLetterJson(deadLetter: Omit<DeadLetter, 'bytes'>, dataDir: string): Record<string, unknown> {
  return {
    id: deadLetter.id,
    decision: deadLetter.decision,
    kind: deadLetter.kind,
    code: deadLetter.code,
    source: deadLetter.source,
    ...placeFacts(deadLetter),
    offset: deadLetter.offset,
    migration_id: deadLetter.migrationId,
    update_id: deadLetter.updateId,
    record_time: deadLetter.recordTime === null ? null : formatTime(deadLetter.recordTime),
    field: deadLetter.field,
    given: deadLetter.given,
    expected: deadLetter.expected,
    reason: deadLetter.reason,
    sha256: deadLetter.sha256.length === 0 ? null : deadLetter.sha256.toString('hex'),
    length: deadLetter.length,
    created_at: formatTime(deadLetter.createdAt),
    next: nextText(deadLetter, printOn(dataDir)),
  };
}
