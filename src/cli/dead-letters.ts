import { coinsOf, dropHalted, retryHalted } from '../ingest/resolve-halt.ts';
import { formatTime } from '../ledger/time.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import { commandOn, deadLetterJson, LIST, locationText, nextText } from '../views/dead-letter-advice.ts';
import type { DeadLetter, DeadLetterCode } from '../views/store/dead-letter-store.ts';
import { openDeadLetters } from '../views/store/dead-letter-store.ts';
import { type CliCommand, type CommandGroup, EXIT } from './command.ts';
import { migrateOlderViews } from './migrate-views.ts';
import { SERVE_KEYS } from './serve.ts';
import { formatFacts, formatTable, safeBytes, safeJson, safeText } from './terminal.ts';

const REASON_CHARS_MAX = 100;
/** A message may be 16 MiB; on a terminal its start is enough, and --json has all of it. */
const BYTES_SHOWN_MAX = 8192;

const list: CliCommand = {
  usage: 'list',
  summary: 'List the messages that could not be applied, and the decisions',
  examples: ['holdfast dead-letters list', 'holdfast dead-letters list --data ./data --json'],
  addOptions: (command) => command.option('--json', 'print JSON for programs'),
  run: async ({ options, config: { dataDir }, terminal }) => {
    using deadLetters = openDeadLetters(dataDir);
    const listed = deadLetters.list();
    if (options.json === true) {
      terminal.stdout.write(safeJson(listed.map((deadLetter) => listedDeadLetter(deadLetter, dataDir))));
      return;
    }
    const header = ['id', 'decision', 'kind', 'location', 'update', 'record time', 'reason'];
    const rows = listed.map((deadLetter) => [
      String(deadLetter.id),
      deadLetter.decision,
      deadLetter.kind,
      locationText(deadLetter),
      deadLetter.updateId ?? '-',
      deadLetter.recordTime === null ? '-' : formatTime(deadLetter.recordTime),
      deadLetter.reason.length <= REASON_CHARS_MAX
        ? deadLetter.reason
        : `${deadLetter.reason.slice(0, REASON_CHARS_MAX)}...`,
    ]);
    terminal.stdout.write(rows.length === 0 ? 'no dead letters\n' : formatTable(header, rows));
  },
};

const show: CliCommand = {
  usage: 'show <ID>',
  summary: 'Show one message that could not be applied: its location, what is wrong, its bytes, and what to do',
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
  summary: 'Apply the halted message at its location, with the settings of serve; the service must be stopped',
  examples: ['holdfast dead-letters retry', 'holdfast dead-letters retry --data ./data --record-time-gap-max 800d'],
  settings: SERVE_KEYS,
  hidesSettings: true,
  run: async (invocation) => {
    const { config, terminal } = invocation;
    await migrateOlderViews(invocation);
    const { deadLetter, bad } = retryHalted(config.dataDir, { ...config, now: () => Date.now() * 1000 });
    const [id, where] = [deadLetter.id, safeLocation(deadLetter)];
    if (bad === null) {
      terminal.stdout.write(`dead letter ${id} is applied: the next \`replay\` or start continues after ${where}\n`);
      return EXIT.ok;
    }
    const next = nextText(deadLetter, commandOn(config.dataDir));
    const says = `dead letter ${id} stays halted, nothing has changed: ${bad}; to continue: ${next}`;
    terminal.stderr.write(`holdfast: ${safeText(says)}\n`);
    return EXIT.halted;
  },
};

const drop: CliCommand = {
  usage: 'drop <ID>',
  summary: 'End the halt without its message, for good: ingest continues after it; the service must be stopped',
  examples: ['holdfast dead-letters drop 1', 'holdfast dead-letters drop 1 --yes'],
  addOptions: (command) => command.option('--yes', 'do it; without this the command only says what it would cost'),
  run: async (invocation) => {
    const { args, options, config, terminal } = invocation;
    const { dataDir } = config;
    if (options.yes === true) await migrateOlderViews(invocation);
    const deadLetter = findDeadLetter(dataDir, args[0]!);
    const { id, decision } = deadLetter;
    const print = commandOn(dataDir);
    if (decision !== 'halted')
      throw new Refusal(`dead letter ${id} is ${decision}, not halted; next: ${safeText(nextText(deadLetter, print))}`);
    if (options.yes !== true)
      throw new Refusal(
        `dropping dead letter ${id} (${safeLocation(deadLetter)}): ${costText(deadLetter)}; nothing was done, --yes does it`,
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
  throw new Refusal(`there is no dead letter ${id}; ${commandOn(dataDir)(LIST)} lists them`);
}

/** A dead letter without its bytes, for programs. */
function listedDeadLetter(deadLetter: Omit<DeadLetter, 'bytes'>, dataDir: string): Record<string, unknown> {
  const { id, decision, sha256, length, createdAt } = deadLetter;
  return {
    id,
    decision,
    ...deadLetterJson(deadLetter, commandOn(dataDir)),
    sha256: sha256.length === 0 ? null : sha256.toString('hex'),
    length,
    created_at: formatTime(createdAt),
  };
}

function deadLetterText(deadLetter: DeadLetter, dataDir: string): string {
  const { bytes, length } = deadLetter;
  const facts = formatFacts([
    ['dead letter', `${deadLetter.id}, ${deadLetter.decision}`],
    ['location', locationText(deadLetter)],
    ['migration', deadLetter.migrationId],
    ['update', deadLetter.updateId],
    ['record time', deadLetter.recordTime === null ? null : formatTime(deadLetter.recordTime)],
    ['code', deadLetter.code],
    ['field', deadLetter.field],
    ['given', deadLetter.given],
    ['expected', deadLetter.expected],
    ['reason', deadLetter.reason],
    ['left at', formatTime(deadLetter.createdAt)],
    ['next', nextText(deadLetter, commandOn(dataDir))],
  ]);
  if (deadLetter.kind === 'container') return facts;
  const shown = safeBytes(bytes.subarray(0, BYTES_SHOWN_MAX));
  const cut = length > BYTES_SHOWN_MAX ? `; the first ${Math.min(BYTES_SHOWN_MAX, bytes.length)} of them` : '';
  return `${facts}\n${length} bytes with SHA-256 ${deadLetter.sha256.toString('hex')}${cut}:\n${shown}\n`;
}

/** For a message that cannot be read as an update at all. */
const UNREADABLE: ReadonlySet<DeadLetterCode> = new Set(['cut_off', 'not_utf8', 'not_json', 'not_a_feed']);

/** What it would cost to drop it. */
function costText(deadLetter: DeadLetter): string {
  const { code, kind } = deadLetter;
  if (code === 'broken_batch')
    return 'no total will ever include its messages, and a later update that archives what they would have created is bad too';
  if (kind === 'container')
    return 'what comes after the break is read only from a repaired file; nothing is remembered, and the broken file halts again';
  if (UNREADABLE.has(code))
    return (
      'it cannot be read as an update; only exactly these bytes are skipped, from any source, ' +
      'so an update that was cut off here is applied once it comes complete'
    );
  const coins = kind === 'overlong' ? null : coinsOf(deadLetter);
  const what =
    coins === null
      ? 'what it creates and archives cannot be read from it'
      : `it creates ${coins.creates} and archives ${coins.archives} coins and rounds`;
  const lost = 'no total will ever include it, and the same bytes are skipped from any source';
  return `${what}; ${lost}, and a later update that archives what it would have created is bad too`;
}

/** What follows once it is dropped. */
function droppedText(deadLetter: DeadLetter): string {
  if (deadLetter.code === 'broken_batch') return 'ingest continues behind the batch, without its messages';
  if (deadLetter.kind === 'container')
    return `the halt has ended; read ${safeText(deadLetter.source)} again from its start once it is repaired`;
  return `the next \`replay\` or start continues after ${safeLocation(deadLetter)}; the same bytes are skipped from any source`;
}

function safeLocation(deadLetter: DeadLetter): string {
  return safeText(locationText(deadLetter));
}
