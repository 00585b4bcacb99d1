import { formatTime } from '../ledger/time.ts';
import type { DeadLetter } from '../views/dead-letters.ts';

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

/** A dead letter without its bytes, as programs read it. */
export function deadLetterJson(letter: Omit<DeadLetter, 'bytes'>): Record<string, unknown> {
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
    next: nextStep(letter),
  };
}

/** Where a message stood, for people. */
export function placeOf({
  kind,
  source,
  partition,
  offset,
}: Pick<DeadLetter, 'kind' | 'source' | 'partition' | 'offset'>): string {
  if (kind === 'container') return source;
  return partition < 0 ? `${source}, message ${offset}` : `${source}, partition ${partition}, offset ${offset}`;
}

/** What an operator does now. */
export function nextStep({
  id,
  kind,
  decision,
  source,
}: Pick<DeadLetter, 'id' | 'kind' | 'decision' | 'source'>): string {
  const drop = `holdfast dead-letters drop ${id}`;
  switch (decision) {
    case 'quarantined':
      return 'nothing: the feed went on without it. It can only be put right by replaying the mended feed into a new directory';
    case 'dropped':
      return kind === 'container'
        ? `nothing: the halt has ended; read ${source} again from its start once it is mended`
        : 'nothing: it was dropped, and the same bytes are skipped from any source';
    case 'applied':
      return 'nothing: it was applied at its own place';
    case 'resolved':
      return 'nothing: the halt ended by itself';
    case 'halted':
      return haltedStep(kind, source, drop);
  }
}

function haltedStep(kind: DeadLetter['kind'], source: string, drop: string): string {
  const stop = 'stop the service if one runs on this directory; then';
  const retry = 'holdfast dead-letters retry';
  switch (kind) {
    case 'update':
      return `${stop} \`${retry}\` after an upgrade that can read it or with other settings, or \`${drop}\` to go on without it`;
    case 'overtaken':
      return `${stop} \`${drop}\` to go on without it, or build the views anew in another directory, which keeps it`;
    case 'overlong':
      return `${stop} \`${drop}\` to go on without it: only its start is kept, so it cannot be retried`;
    case 'container':
      return `mend ${source}; ${stop} \`${drop}\` to end the halt, and read the mended file from its start: what is known is skipped`;
    case 'ahead':
      return `set the clock right if it is wrong; else wait: the halt ends by itself once the clock has come near. Or ${stop} \`${drop}\` to go on without it`;
  }
}
