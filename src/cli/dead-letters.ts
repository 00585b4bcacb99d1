import { LIST, nextText, placeText } from '../dead-letters/text.ts';
import { dropHalted, retryHalted } from '../ingest/resolve-halt.ts';
import { formatTime } from '../ledger/time.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import { openDeadLetters } from '../views/read/dead-letters.ts';
import type { DeadLetter } from '../views/store/dead-letters.ts';
import { type CliCommand, type CommandGroup, EXIT } from './command.ts';
import { costText, deadLetterText, droppedText, listedDeadLetter, printOn } from './dead-letter-text.ts';
import { SERVE_KEYS } from './serve.ts';
import { formatTable } from './table.ts';
import { safeJson, safeText } from './terminal-text.ts';

const REASON_CHARS_MAX = 100;

const list: CliCommand = {
  usage: 'list',
  summary: 'List the messages that could not be applied, and the decisions',
  examples: ['holdfast dead-letters list', 'holdfast dead-letters list --data ./data --json'],
  addOptions: (command) => command.option('--json', 'print JSON for programs'),
  run: async ({ options, config, terminal }) => {
    using deadLetters = openDeadLetters(config.dataDir);
    const listed = deadLetters.list();
    if (options.json === true) {
      terminal.stdout.write(safeJson(listed.map((deadLetter) => listedDeadLetter(deadLetter, config.dataDir))));
      return;
    }
    const header = ['id', 'decision', 'kind', 'place', 'update', 'record time', 'reason'];
    const rows = listed.map((deadLetter) => [
      String(deadLetter.id),
      deadLetter.decision,
      deadLetter.kind,
      placeText(deadLetter),
      deadLetter.updateId ?? '-',
      deadLetter.recordTime === null ? '-' : formatTime(deadLetter.recordTime),
      shortened(deadLetter.reason),
    ]);
    terminal.stdout.write(rows.length === 0 ? 'no dead letters\n' : formatTable(header, rows));
  },
};

const show: CliCommand = {
  usage: 'show <ID>',
  summary: 'Show one message that could not be applied: where it came from, what is wrong, its bytes, and what to do',
  examples: ['holdfast dead-letters show 1', 'holdfast dead-letters show 1 --json | jq -r .bytes | base64 -d'],
  addOptions: (command) => command.option('--json', 'print JSON for programs; the bytes are in base64'),
  run: async ({ args, options, config: { dataDir }, terminal }) => {
    const deadLetter = findDeadLetter(dataDir, args[0]!);
    const shown =
      options.json === true
        ? safeJson({ ...listedDeadLetter(deadLetter, dataDir), bytes: deadLetter.bytes.toString('base64') })
        : deadLetterText(deadLetter, dataDir);
    terminal.stdout.write(shown);
  },
};

const retry: CliCommand = {
  usage: 'retry',
  summary: 'Apply the halted message at its own place, with the settings of serve; the service must be stopped',
  examples: ['holdfast dead-letters retry', 'holdfast dead-letters retry --data ./data --record-time-gap-max 800d'],
  settings: SERVE_KEYS,
  run: async ({ config, terminal }) => {
    const { deadLetter, bad } = retryHalted(config.dataDir, { ...config, now: () => Date.now() * 1000 });
    if (bad === null) {
      terminal.stdout.write(
        `dead letter ${deadLetter.id} is applied: ingest continues after ${safeText(placeText(deadLetter))}\n`,
      );
      return EXIT.ok;
    }
    const says =
      `dead letter ${deadLetter.id} stays halted, nothing has changed: ${bad}; ` +
      `to continue: ${nextText(deadLetter, printOn(config.dataDir))}`;
    terminal.stderr.write(`holdfast: ${safeText(says)}\n`);
    return EXIT.halted;
  },
};

const drop: CliCommand = {
  usage: 'drop <ID>',
  summary: 'End the halt without its message, for good: ingest continues after it; the service must be stopped',
  examples: ['holdfast dead-letters drop 1', 'holdfast dead-letters drop 1 --yes'],
  addOptions: (command) => command.option('--yes', 'do it; without this the command only says what it would cost'),
  run: async ({ args, options, config: { dataDir }, terminal }) => {
    const deadLetter = findDeadLetter(dataDir, args[0]!);
    const { id, decision } = deadLetter;
    const print = printOn(dataDir);
    if (decision !== 'halted')
      throw new Refusal(`dead letter ${id} is ${decision}, not halted; next: ${safeText(nextText(deadLetter, print))}`);
    if (options.yes !== true)
      throw new Refusal(
        `dropping dead letter ${id} (${safeText(placeText(deadLetter))}): ${costText(deadLetter)}; nothing was done, --yes does it`,
      );
    if (!dropHalted(dataDir, id)) throw new Refusal(`dead letter ${id} is not halted; ${print(LIST)} shows what is`);
    terminal.stdout.write(`dead letter ${id} is dropped: ${droppedText(deadLetter)}\n`);
  },
};

export const deadLettersCommands: CommandGroup = {
  usage: 'dead-letters',
  summary: 'List and show messages that could not be applied; retry or drop the one that is halted',
  examples: ['holdfast dead-letters list', 'holdfast dead-letters show 1'],
  commands: [list, show, retry, drop],
};

function findDeadLetter(dataDir: string, id: string): DeadLetter {
  if (!/^[1-9]\d{0,14}$/.test(id))
    throw new Refusal(`ID: given ${showGiven(id)}, expected the number of a dead letter, such as 1`);
  using deadLetters = openDeadLetters(dataDir);
  const deadLetter = deadLetters.find(Number(id));
  if (deadLetter !== null) return deadLetter;
  throw new Refusal(`there is no dead letter ${id}; ${printOn(dataDir)(LIST)} lists them`);
}

function shortened(reason: string): string {
  return reason.length <= REASON_CHARS_MAX ? reason : `${reason.slice(0, REASON_CHARS_MAX)}...`;
}
