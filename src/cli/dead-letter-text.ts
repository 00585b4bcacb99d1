import { resolve } from 'node:path';
import { SETTINGS } from '../config/setting-list.ts';
import {
  commandOn,
  deadLetterJson,
  nextText,
  type PrintCommand,
  placeText,
  plainCommand,
} from '../dead-letters/text.ts';
import { coinsOf } from '../ingest/resolve-halt.ts';
import { formatTime } from '../ledger/time.ts';
import type { DeadLetter, DeadLetterCode } from '../views/store/dead-letters.ts';
import { formatFacts } from './table.ts';
import { safeBytes, safeText } from './terminal-text.ts';

/** A message may be 16 MiB; on a terminal its start is enough, and --json has all of it. */
const BYTES_SHOWN_MAX = 8192;

/** Commands with the data directory, unless it is the default. */
export function printOn(dataDir: string): PrintCommand {
  return dataDir === resolve(SETTINGS.data.default) ? plainCommand : commandOn(dataDir);
}

/** A dead letter without its bytes, for programs. */
export function listedDeadLetter(deadLetter: Omit<DeadLetter, 'bytes'>, dataDir: string): Record<string, unknown> {
  const { id, decision, sha256, length, createdAt } = deadLetter;
  return {
    id,
    decision,
    ...deadLetterJson(deadLetter, printOn(dataDir)),
    sha256: sha256.length === 0 ? null : sha256.toString('hex'),
    length,
    created_at: formatTime(createdAt),
  };
}

export function deadLetterText(deadLetter: DeadLetter, dataDir: string): string {
  const { bytes, length } = deadLetter;
  const facts = formatFacts([
    ['dead letter', `${deadLetter.id}, ${deadLetter.decision}`],
    ['place', placeText(deadLetter)],
    ['migration', deadLetter.migrationId],
    ['update', deadLetter.updateId],
    ['record time', deadLetter.recordTime === null ? null : formatTime(deadLetter.recordTime)],
    ['code', deadLetter.code],
    ['field', deadLetter.field],
    ['given', deadLetter.given],
    ['expected', deadLetter.expected],
    ['reason', deadLetter.reason],
    ['left at', formatTime(deadLetter.createdAt)],
    ['next', nextText(deadLetter, printOn(dataDir))],
  ]);
  if (deadLetter.kind === 'container') return facts;
  const shown = safeBytes(bytes.subarray(0, BYTES_SHOWN_MAX));
  const cut = length > BYTES_SHOWN_MAX ? `; the first ${Math.min(BYTES_SHOWN_MAX, bytes.length)} of them` : '';
  return `${facts}\n${length} bytes with SHA-256 ${deadLetter.sha256.toString('hex')}${cut}:\n${shown}\n`;
}

/** For a message that cannot be read as an update at all. */
const UNREADABLE: ReadonlySet<DeadLetterCode> = new Set(['cut_off', 'not_utf8', 'not_json', 'not_a_feed']);

/** What it would cost to drop it. */
export function costText(deadLetter: DeadLetter): string {
  if (deadLetter.code === 'broken_batch')
    return 'no total will ever include its messages, and a later update that archives what they would have created is bad too';
  if (deadLetter.kind === 'container') {
    return 'what comes after the break is read only from a repaired file; nothing is remembered, and the broken file halts again';
  }
  if (UNREADABLE.has(deadLetter.code)) {
    return (
      'it cannot be read as an update; only exactly these bytes are skipped, from any source, ' +
      'so an update that was cut off here is applied once it comes complete'
    );
  }
  const lost = 'no total will ever include it, and the same bytes are skipped from any source';
  const later = 'and a later update that archives what it would have created is bad too';
  return `${coinsText(deadLetter)}; ${lost}, ${later}`;
}

function coinsText(deadLetter: DeadLetter): string {
  const coins = deadLetter.kind === 'overlong' ? null : coinsOf(deadLetter);
  if (coins === null) return 'what it creates and archives cannot be read from it';
  return `it creates ${coins.creates} and archives ${coins.archives} coins and rounds`;
}

/** What follows once it is dropped. */
export function droppedText(deadLetter: DeadLetter): string {
  if (deadLetter.code === 'broken_batch') return 'ingest continues behind the batch, without its messages';
  if (deadLetter.kind === 'container')
    return `the halt has ended; read ${safeText(deadLetter.source)} again from its start once it is repaired`;
  return `ingest continues after ${safeText(placeText(deadLetter))}, and the same bytes are skipped from any source`;
}
