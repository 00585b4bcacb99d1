import { Command, CommanderError, Option } from 'commander';
import { pino } from 'pino';
import type { Setting } from '../config/setting.ts';
import { optionName, SETTINGS, type SettingKey } from '../config/settings.ts';
import { loadConfig } from '../config.ts';
import { HoldingsFault } from '../holdings/fault.ts';
import { Refusal } from '../refusal.ts';
import { readVersion } from '../version.ts';
import { type CliCommand, EXIT, type ExitCode, SETTINGS_OF_EVERY_COMMAND, type Terminal } from './command.ts';
import { explainHoldingsFault, explainMachineFault } from './faults.ts';
import { safeText } from './terminal-text.ts';

/** Every command by its first word, in the order of the help. Only the one given is loaded, because some need large modules. */
const COMMANDS: readonly (readonly [word: string, load: () => Promise<CliCommand>])[] = [
  ['serve', async () => (await import('./serve.ts')).serveCommand],
  ['replay', async () => (await import('./replay.ts')).replayCommand],
  ['summary', async () => (await import('./summary.ts')).summaryCommand],
  ['snapshots', async () => (await import('./snapshots.ts')).snapshotsCommand],
  ['history', async () => (await import('./history.ts')).historyCommand],
  ['top', async () => (await import('./top.ts')).topCommand],
  ['owners', async () => (await import('./owners.ts')).ownersCommand],
  ['status', async () => (await import('./status.ts')).statusCommand],
  ['verify', async () => (await import('./verify.ts')).verifyCommand],
  ['compare', async () => (await import('./compare.ts')).compareCommand],
  ['backup', async () => (await import('./backup.ts')).backupCommand],
  ['restore', async () => (await import('./restore.ts')).restoreCommand],
  ['rebuild', async () => (await import('./rebuild.ts')).rebuildCommand],
  ['dead-letters', async () => (await import('./dead-letters-list.ts')).deadLettersListCommand],
  ['dead-letters', async () => (await import('./dead-letters-show.ts')).deadLettersShowCommand],
  ['dead-letters', async () => (await import('./dead-letters-retry.ts')).deadLettersRetryCommand],
  ['dead-letters', async () => (await import('./dead-letters-drop.ts')).deadLettersDropCommand],
  ['token', async () => (await import('./token.ts')).tokenCommand],
  ['openapi', async () => (await import('./openapi.ts')).openapiCommand],
  ['fetch', async () => (await import('./fetch.ts')).fetchCommand],
  ['decode', async () => (await import('./decode.ts')).decodeCommand],
  ['flink', async () => (await import('./flink-migrate.ts')).flinkMigrateCommand],
  ['flink', async () => (await import('./flink-start.ts')).flinkStartCommand],
  ['flink', async () => (await import('./flink-status.ts')).flinkStatusCommand],
  ['flink', async () => (await import('./flink-stop.ts')).flinkStopCommand],
  ['produce', async () => (await import('./produce.ts')).produceCommand],
];

/** Runs one command line (without the program's own name) and returns the exit code. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const program = createProgram(terminal);
  const named = COMMANDS.filter(([word]) => word === args[0]);
  for (const [, load] of named.length > 0 ? named : COMMANDS) {
    const command = await load();
    const added = addCommand(program, command);
    const required = takeRequired(added);
    added.action(async (...given: unknown[]) => {
      const parsed = given.at(-1) as Command;
      checkRequired(parsed, required);
      exitCode = await runCommand(command, parsed, terminal);
    });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return reportFailure(error, { terminal, help: nearestHelp(program, args) });
  }
}

function createProgram(terminal: Terminal): Command {
  return new Command('holdfast')
    .description('Keeps per-owner coin totals of a ledger feed for every snapshot and serves them over HTTP.')
    .version(readVersion(), '--version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      // A failure is thrown as well, and reported in one place and one line.
      writeErr: () => {},
    })
    .addHelpText('after', '\nExample:\n  $ holdfast serve --data ./data --file feed.ndjson\n');
}

function addCommand(program: Command, definition: CliCommand): Command {
  const { usage, summary, examples, settings = [], addOptions } = definition;
  const command = groupOf(program, usage).command(usage.replace(/^[a-z-]+ (?=[a-z])/, ''));
  command.description(summary);
  addOptions?.(command);
  for (const key of [...settings, ...SETTINGS_OF_EVERY_COMMAND]) command.addOption(settingOption(key, definition));
  command.option('--config <FILE>', 'JSON file of settings; options and HOLDFAST_* variables come before it');
  return command.addHelpText('after', examplesText(examples));
}

/** Commander would report a missing option before an unknown one, which may be the missing one misspelt. */
function takeRequired(command: Command): readonly Option[] {
  const required = command.options.filter(({ mandatory }) => mandatory);
  for (const option of required) option.mandatory = false;
  return required;
}

function checkRequired(command: Command, required: readonly Option[]): void {
  for (const option of required) {
    if (command.getOptionValue(option.attributeName()) !== undefined) continue;
    command.error(`error: required option '${option.flags}' not specified`);
  }
}

function examplesText(examples: readonly string[]): string {
  const lines = examples.map((example) => `  $ ${example}\n`).join('');
  return `\n${examples.length === 1 ? 'Example' : 'Examples'}:\n${lines}`;
}

/** The help's descriptions of groups. */
const GROUPS: Readonly<Record<string, Pick<CliCommand, 'summary' | 'examples'>>> = {
  flink: {
    summary: 'Make the store in PostgreSQL; start, watch and stop the job that fills it',
    examples: [
      'holdfast flink migrate --postgres postgres://owner@db:5432/holdfast --dso DSO::1220ab',
      'holdfast flink status --config holdfast.json',
    ],
  },
  'dead-letters': {
    summary: 'List and show messages that could not be applied; retry or drop the one that is halted',
    examples: ['holdfast dead-letters list', 'holdfast dead-letters show 1'],
  },
};

/** `dead-letters list` belongs to the group `dead-letters`, which is created with the first of its commands. */
function groupOf(program: Command, usage: string): Command {
  const [first, second] = usage.split(' ');
  if (second === undefined || !/^[a-z]/.test(second)) return program;
  const known = program.commands.find((command) => command.name() === first);
  if (known !== undefined) return known;
  const { summary, examples } = GROUPS[first!] ?? { summary: '', examples: [] };
  return program.command(first!).description(summary).addHelpText('after', examplesText(examples));
}

function settingOption(key: SettingKey, { dataDir }: CliCommand): Option {
  const setting: Setting<unknown> = SETTINGS[key];
  const { placeholder, variadic } = setting;
  if (placeholder === null) return new Option(optionName(key), setting.help);
  const absent = setting.default ?? setting.otherwise;
  const help = absent === undefined ? setting.help : `${setting.help} (default: ${absent === '' ? 'none' : absent})`;
  const flags = `${optionName(key)} <${variadic === true ? 'FILE...' : placeholder}>`;
  if (key !== 'data' || dataDir === undefined) return new Option(flags, help);
  // Every command accepts it, so that a script may give it to all of them.
  return dataDir === 'unused' ? new Option(flags, help).hideHelp() : new Option(flags, `${help}; made if missing`);
}

async function runCommand(command: CliCommand, parsed: Command, terminal: Terminal): Promise<ExitCode> {
  const options = parsed.opts();
  const { config, warnings } = loadConfig({ options, env: terminal.env, writesTopic: command.writesTopic === true });
  // The program's one logger.
  const logger = pino({ level: config.logLevel, timestamp: pino.stdTimeFunctions.isoTime }, terminal.stderr);
  for (const warning of warnings) logger.warn(warning);
  try {
    return await command.run({ args: parsed.args, options, config, terminal, logger });
  } catch (error) {
    throw explainMachineFault(error, config.dataDir);
  }
}

/** The command line that shows the help for these arguments. */
function nearestHelp(program: Command, args: readonly string[]): string {
  const words = ['holdfast'];
  for (let command: Command | undefined = program, at = 0; ; at++) {
    command = command.commands.find((known) => known.name() === args[at]);
    if (command === undefined) return `\`${words.join(' ')} --help\``;
    words.push(command.name());
  }
}

/** Every failure is one line on standard error. */
function reportFailure(error: unknown, { terminal, help }: { terminal: Terminal; help: string }): ExitCode {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
  if (error instanceof HoldingsFault) {
    const { line, exitCode } = explainHoldingsFault(error);
    terminal.stderr.write(`holdfast: ${safeText(line)}\n`);
    return exitCode;
  }
  terminal.stderr.write(`holdfast: ${failureLine(error, help)}\n`);
  return error instanceof Refusal || error instanceof CommanderError ? EXIT.refused : EXIT.failed;
}

function failureLine(error: unknown, help: string): string {
  // For a bare `holdfast` or group, commander's error has the whole help in place of a message.
  if (error instanceof CommanderError && error.code === 'commander.help') return `no command given; ${help} lists them`;
  const message = error instanceof Error ? error.message : String(error);
  const line = safeText(
    message
      .replace(/^error: /, '')
      .replaceAll(/\s*\n\s*/g, ' ')
      .trim(),
  );
  return error instanceof CommanderError ? `${line.replace(/\.$/, '')}; see ${help}` : line;
}
