import { placeText } from '../dead-letters/text.ts';
import { formatTime } from '../ledger/time.ts';
import { openDeadLetters } from '../views/read/dead-letters.ts';
import { type CliCommand, EXIT } from './command.ts';
import { listedDeadLetter } from './dead-letter-text.ts';
import { formatTable } from './table.ts';
import { safeJson, safeText } from './terminal-text.ts';

const REASON_CHARS_MAX = 100;

export const deadLettersListCommand: CliCommand = {
  usage: 'dead-letters list',
  summary: 'List the messages that could not be applied, and the decisions',
  examples: ['holdfast dead-letters list', 'holdfast dead-letters list --data ./data --json'],
  addOptions: (command) => command.option('--json', 'print JSON for programs'),
  run: async ({ options, config, terminal }) => {
    using deadLetters = openDeadLetters(config.dataDir);
    const listed = deadLetters.list();
    if (options.json === true) {
      terminal.stdout.write(safeJson(listed.map((deadLetter) => listedDeadLetter(deadLetter, config.dataDir))));
      return EXIT.ok;
    }
    const header = ['id', 'decision', 'kind', 'place', 'update', 'record time', 'reason'];
    const rows = listed.map((deadLetter) =>
      [
        String(deadLetter.id),
        deadLetter.decision,
        deadLetter.kind,
        placeText(deadLetter),
        deadLetter.updateId ?? '-',
        deadLetter.recordTime === null ? '-' : formatTime(deadLetter.recordTime),
        shortened(deadLetter.reason),
      ].map(safeText),
    );
    terminal.stdout.write(rows.length === 0 ? 'no dead letters\n' : formatTable(header, rows));
    return EXIT.ok;
  },
};

function shortened(reason: string): string {
  return reason.length <= REASON_CHARS_MAX ? reason : `${reason.slice(0, REASON_CHARS_MAX)}...`;
}
