import { LIST } from '../dead-letters/advice.ts';
import { nextText, placeText } from '../dead-letters/text.ts';
import { coinsOf, dropHalted } from '../ingest/resolve-halt.ts';
import { Refusal } from '../refusal.ts';
import { openDeadLetters } from '../views/read/dead-letters.ts';
import type { DeadLetter, DeadLetterCode } from '../views/store/dead-letters.ts';
import { type CliCommand, EXIT } from './command.ts';
import { noSuchDeadLetter, parseDeadLetterId, printOn } from './dead-letter-text.ts';
import { safeText } from './terminal-text.ts';

export const deadLettersDropCommand: CliCommand = {
  usage: 'dead-letters drop <ID>',
  summary: 'End the halt without its message, for good: ingest continues after it; the service must be stopped',
  examples: ['holdfast dead-letters drop 1', 'holdfast dead-letters drop 1 --yes'],
  addOptions: (command) => command.option('--yes', 'do it; without this the command only says what it would cost'),
  run: async ({ args, options, config, terminal }) => {
    const id = parseDeadLetterId(args[0]!);
    const deadLetter = haltedDeadLetter(config.dataDir, id);
    if (options.yes !== true) {
      throw new Refusal(
        `dropping dead letter ${id} (${safeText(placeText(deadLetter))}): ${costOf(deadLetter)}; nothing was done, --yes does it`,
      );
    }
    if (!dropHalted(config.dataDir, id))
      throw new Refusal(`dead letter ${id} is not halted; ${printOn(config.dataDir)(LIST.command)} shows what is`);
    terminal.stdout.write(`dead letter ${id} is dropped: ${doneText(deadLetter)}\n`);
    return EXIT.ok;
  },
};

function haltedDeadLetter(dataDir: string, id: number): DeadLetter {
  using deadLetters = openDeadLetters(dataDir);
  const deadLetter = deadLetters.find(id);
  if (deadLetter === null) throw noSuchDeadLetter(id, dataDir);
  if (deadLetter.decision === 'halted') return deadLetter;
  throw new Refusal(
    `dead letter ${id} is ${deadLetter.decision}, not halted; next: ${safeText(nextText(deadLetter, printOn(dataDir)))}`,
  );
}

/** For a message that cannot be read as an update at all. */
const UNREADABLE: ReadonlySet<DeadLetterCode> = new Set(['cut_off', 'not_utf8', 'not_json', 'not_a_feed']);

function costOf(deadLetter: DeadLetter): string {
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

function doneText(deadLetter: DeadLetter): string {
  if (deadLetter.kind === 'container')
    return `the halt has ended; read ${safeText(deadLetter.source)} again from its start once it is repaired`;
  return `ingest continues after ${safeText(placeText(deadLetter))}, and the same bytes are skipped from any source`;
}
