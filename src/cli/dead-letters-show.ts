import { nextText, placeText } from '../dead-letters/text.ts';
import { formatTime } from '../ledger/time.ts';
import { openDeadLetters } from '../views/read/dead-letters.ts';
import type { DeadLetter } from '../views/store/dead-letters.ts';
import { type CliCommand, EXIT } from './command.ts';
import { listedDeadLetter, noSuchDeadLetter, parseDeadLetterId, printOn } from './dead-letter-text.ts';
import { safeBytes, safeJson, safeText } from './terminal-text.ts';

/** A message may be 16 MiB; on a terminal its start is enough, and --json has all of it. */
const BYTES_SHOWN_MAX = 8192;

export const deadLettersShowCommand: CliCommand = {
  usage: 'dead-letters show <ID>',
  summary: 'Show one message that could not be applied: where it came from, what is wrong, its bytes, and what to do',
  examples: ['holdfast dead-letters show 1', 'holdfast dead-letters show 1 --json | jq -r .bytes | base64 -d'],
  addOptions: (command) => command.option('--json', 'print JSON for programs; the bytes are in base64'),
  run: async ({ args, options, config, terminal }) => {
    const id = parseDeadLetterId(args[0]!);
    using deadLetters = openDeadLetters(config.dataDir);
    const deadLetter = deadLetters.find(id);
    if (deadLetter === null) throw noSuchDeadLetter(id, config.dataDir);
    const shown =
      options.json === true
        ? safeJson({ ...listedDeadLetter(deadLetter, config.dataDir), bytes: deadLetter.bytes.toString('base64') })
        : deadLetterText(deadLetter, config.dataDir);
    terminal.stdout.write(shown);
    return EXIT.ok;
  },
};

function deadLetterText(deadLetter: DeadLetter, dataDir: string): string {
  const { bytes, length } = deadLetter;
  const facts: [string, string | number | null][] = [
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
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : [`${name.padEnd(12)} ${safeText(String(value))}\n`],
  );
  if (deadLetter.kind === 'container') return lines.join('');
  const shown = safeBytes(bytes.subarray(0, BYTES_SHOWN_MAX));
  const cut = length > BYTES_SHOWN_MAX ? `; the first ${Math.min(BYTES_SHOWN_MAX, bytes.length)} of them` : '';
  return `${lines.join('')}\n${length} bytes with SHA-256 ${deadLetter.sha256.toString('hex')}${cut}:\n${shown}\n`;
}
