import { Command, CommanderError, Option } from 'commander';
import { pino } from 'pino';
import { loadConfig } from '../config/load-config.ts';
import { HELP_GROUPS, SETTINGS } from '../config/setting-list.ts';
import { FAULT_KINDS, type FaultKind, HoldingsFault } from '../holdings/holdings-fault.ts';
import { machineAdvice } from '../machine-errors.ts';
import { Refusal } from '../refusal.ts';
import { environmentName, type Setting, settingOption } from '../setting-kinds.ts';
import { readVersion } from '../version.ts';
import {
  type CliCommand,
  type CommandGroup,
  EXIT,
  type ExitCode,
  hasTextLog,
  SETTINGS_OF_EVERY_COMMAND,
  type Terminal,
} from './command.ts';
import { logLineText, safeText } from './terminal.ts';

type LoadCommand = () => Promise<CliCommand | CommandGroup>;

/** Every command and group by its word, under the headings of the help. Only the one given is loaded: some need large modules. */
const COMMANDS_BY_HEADING: Readonly<Record<string, Readonly<Record<string, LoadCommand>>>> = {
  Run: {
    serve: async () => (await import('./serve.ts')).serveCommand,
    replay: async () => (await import('./replay.ts')).replayCommand,
    demo: async () => (await import('./demo.ts')).demoCommand,
    doctor: async () => (await import('./doctor.ts')).doctorCommand,
    status: async () => (await import('./status.ts')).statusCommand,
    backup: async () => (await import('./backup.ts')).backupCommand,
    restore: async () => (await import('./backup.ts')).restoreCommand,
    'api-key': async () => (await import('./api-key.ts')).apiKeyCommand,
    token: async () => (await import('./token.ts')).tokenCommand,
  },
  Ask: {
    top: async () => (await import('./table-commands.ts')).topCommand,
    owners: async () => (await import('./table-commands.ts')).ownersCommand,
    summary: async () => (await import('./summary.ts')).summaryCommand,
    history: async () => (await import('./table-commands.ts')).historyCommand,
    movements: async () => (await import('./table-commands.ts')).movementsCommand,
    statement: async () => (await import('./table-commands.ts')).statementCommand,
    locks: async () => (await import('./table-commands.ts')).locksCommand,
    instruments: async () => (await import('./table-commands.ts')).instrumentsCommand,
    snapshots: async () => (await import('./table-commands.ts')).snapshotsCommand,
    export: async () => (await import('./export.ts')).exportCommand,
  },
  'Check and mend': {
    verify: async () => (await import('./verify.ts')).verifyCommand,
    compare: async () => (await import('./compare.ts')).compareCommand,
    'dead-letters': async () => (await import('./dead-letters.ts')).deadLettersCommands,
  },
  Connect: {
    fetch: async () => (await import('./fetch.ts')).fetchCommand,
    produce: async () => (await import('./produce.ts')).produceCommand,
    decode: async () => (await import('./decode-topic.ts')).decodeCommand,
    mcp: async () => (await import('./mcp.ts')).mcpCommand,
    completion: async () => (await import('./completion.ts')).completionCommand,
    migrate: async () => (await import('./migrate-store.ts')).migrateCommand,
  },
};

/** Runs one command line (without the program's own name) and returns the exit code. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode | undefined;
  const run = async (command: CliCommand, parsed: Command): Promise<void> => {
    exitCode = await runCommand(command, parsed, terminal);
  };
  const program = createProgram(terminal);
  const [word = ''] = args;
  const headings = Object.entries(COMMANDS_BY_HEADING);
  // Completion names all of them.
  const isKnown = word !== 'completion' && headings.some(([, commands]) => Object.hasOwn(commands, word));
  for (const [heading, commands] of headings) {
    program.commandsGroup(`${heading}:`);
    for (const [name, load] of Object.entries(commands))
      if (!isKnown || name === word) addTo(program, await load(), run);
  }
  try {
    if (args.length === 0) program.help();
    await program.parseAsync(args, { from: 'user' });
    return exitCode ?? EXIT.ok;
  } catch (error) {
    return reportFailure(error, { terminal, help: nearestHelp(program, args) });
  }
}

function createProgram(terminal: Terminal): Command {
  return new Command('holdfast')
    .description('Keeps per-owner coin totals of a ledger feed for every snapshot and serves them over HTTP.')
    .version(readVersion(), '--version', 'print the version')
    .exitOverride()
    .commandsGroup('Run:')
    .helpCommand(true)
    .configureHelp({ subcommandTerm: termOf })
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      // A failure is thrown as well, and reported in one place and one line.
      writeErr: () => {},
    })
    .addHelpText('after', '\nExample:\n  $ holdfast serve --scan https://scan.sv-1.example\n');
}

/** A command as lists of commands name it: with its arguments. */
function termOf(command: Command): string {
  const args = command.registeredArguments.map((argument) => {
    const shown = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? ` <${shown}>` : ` [${shown}]`;
  });
  return `${command.name()}${args.join('')}`;
}

function addTo(
  parent: Command,
  definition: CliCommand | CommandGroup,
  run: (definition: CliCommand, parsed: Command) => Promise<void>,
): void {
  const { usage, summary, examples } = definition;
  const command = parent.command(usage).description(summary).summary(summary.split(/[,;:]/, 1)[0]!);
  command.addHelpText('after', examplesText(examples));
  if ('commands' in definition) {
    for (const each of definition.commands) addTo(command, each, run);
    return;
  }
  const { settings = [], addOptions, dataDir, helps = {}, hidesSettings = false } = definition;
  if (hidesSettings) command.addHelpText('after', '\nAnd every option of `holdfast serve`.\n');
  addOptions?.(command);
  for (const key of [...settings, ...SETTINGS_OF_EVERY_COMMAND]) {
    const { help = SETTINGS[key].help } = { help: helps[key] };
    const setting: Setting = { ...SETTINGS[key], help };
    const isMade = key === 'data' && dataDir === 'made';
    const option = settingOption(key, isMade ? { ...setting, help: `${help}; created if missing` } : setting);
    const heading = usage === 'serve' && HELP_GROUPS.find(([, keys]) => keys.includes(key))?.[0];
    if (heading) option.helpGroup(`${heading}:`);
    const isOwn = SETTINGS_OF_EVERY_COMMAND.includes(key);
    command.addOption(option.hideHelp(key === 'data' ? dataDir === 'unused' : hidesSettings && !isOwn));
  }
  const config = new Option(
    '--config <FILE>',
    'JSON file of settings; options and HOLDFAST_* variables come before it',
  );
  command.addOption(config.env(environmentName('config')));
  command.action(() => run(definition, command));
}

function examplesText(examples: readonly string[]): string {
  const lines = examples.map((example) => `  $ ${example}\n`).join('');
  return `\n${examples.length === 1 ? 'Example' : 'Examples'}:\n${lines}`;
}

async function runCommand(command: CliCommand, parsed: Command, terminal: Terminal): Promise<ExitCode | undefined> {
  const options = parsed.opts();
  const isOfEnvironment = (key: string): boolean => parsed.getOptionValueSource(key) === 'env';
  // A command may have an option of its own with the name of a setting that it has none for.
  const settings: readonly string[] = [...(command.settings ?? []), ...SETTINGS_OF_EVERY_COMMAND];
  const isOwn = (key: string): boolean => key in SETTINGS && !settings.includes(key);
  const given = Object.entries(options).filter(
    ([key]) => parsed.getOptionValueSource(key) !== 'default' && !isOwn(key),
  );
  const { config, warnings } = loadConfig({ options: Object.fromEntries(given), isOfEnvironment, env: terminal.env });
  // The program's one logger.
  const { stderr } = terminal;
  const logged = hasTextLog(config.logFormat, terminal)
    ? { write: (line: string) => stderr.write(logLineText(line)) }
    : stderr;
  const logger = pino({ level: config.logLevel, timestamp: pino.stdTimeFunctions.isoTime }, logged);
  for (const warning of warnings) logger.warn(warning);
  try {
    return await command.run({ args: parsed.args, options, program: parsed.parent!, config, terminal, logger });
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

function reportFailure(error: unknown, { terminal, help }: { terminal: Terminal; help: string }): ExitCode {
  const exitCode = exitCodeOf(error);
  if (exitCode !== EXIT.ok) terminal.stderr.write(`holdfast: ${failureLine(error, help)}\n`);
  return exitCode;
}

/** Of a question that has no answer. */
const EXIT_OF: Readonly<Record<FaultKind, ExitCode>> = {
  missing: EXIT.noSnapshot,
  refused: EXIT.refused,
  unanswerable: EXIT.failed,
  unavailable: EXIT.failed,
  unsupported: EXIT.failed,
};

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof HoldingsFault) return EXIT_OF[FAULT_KINDS[error.code]];
  // Commander throws the help and the version too, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.refused;
  return error instanceof Refusal ? EXIT.refused : EXIT.failed;
}

/** Every failure is one line on standard error. */
function failureLine(error: unknown, help: string): string {
  // For a bare `holdfast` or group, commander's error has the whole help in place of a message.
  if (error instanceof CommanderError && error.code === 'commander.help') return `no command given; ${help} lists them`;
  const message = error instanceof Error ? error.message : String(error);
  const line = safeText(message.trim().replaceAll(/\s*\n\s*/g, ' '));
  if (error instanceof CommanderError) return `${line.replaceAll(/^error: |\.$/g, '')}; see ${help}`;
  if (!(error instanceof HoldingsFault) || !isAboutSnapshots(error)) return line;
  const seal = '; one is sealed once the feed goes past the next grid time, or by `holdfast replay FILE --seal`';
  const advice = error.code === 'no_snapshot_in' ? seal : '';
  return `${line}${advice}; \`holdfast snapshots\` lists those there are`;
}

function isAboutSnapshots({ code }: HoldingsFault): boolean {
  return FAULT_KINDS[code] === 'missing' && !['no_update', 'no_such_time', 'no_instrument'].includes(code);
}

/** A fault of the machine as an error that says what to do about it; any other error as it is. */
function explainMachineFault(error: unknown, dataDir: string): unknown {
  const advice = machineAdvice(error);
  if (advice === null) return error;
  // Of a copy, the target matters.
  const { message, path, dest = path } = error as NodeJS.ErrnoException & { readonly dest?: string };
  return new Error(`${dest ?? `--data ${dataDir}`}: ${advice} (${message})`, { cause: error });
}
