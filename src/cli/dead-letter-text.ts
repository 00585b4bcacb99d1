import { dataDirDefault } from '../config.ts';
import { withHint } from '../dead-letters/halt-hint.ts';
import { nextStep } from '../dead-letters/halt-line.ts';
import { formatTime } from '../ledger/time.ts';
import { shellWord } from '../shell-word.ts';
import type { DeadLetter, LetterFacts } from '../views/store/dead-letters.ts';

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

/** What an operator does now, and what a halt like this one may come from; commands name a directory that is not the default. */
export function nextText(letter: LetterFacts, dataDir: string): string {
  return commandsOn(dataDir, withHint(nextStep(letter), letter));
}

/** Text about a dead letter whose commands name the data directory, unless it is the one they take by themselves. */
export function commandsOn(dataDir: string, text: string): string {
  if (dataDir === dataDirDefault()) return text;
  return text.replaceAll(
    /`(holdfast dead-letters (?:list|retry|drop \d+))`/g,
    (_, command) => `\`${command} --data ${shellWord(dataDir)}\``,
  );
}

/** A dead letter without its bytes, as programs read it. */
export function deadLetterJson(letter: Omit<DeadLetter, 'bytes'>, dataDir: string): Record<string, unknown> {
  return {
    id: letter.id,
    decision: letter.decision,
    kind: letter.kind,
    source: letter.source,
    partition: letter.partition,
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
    next: nextText(letter, dataDir),
  };
}
