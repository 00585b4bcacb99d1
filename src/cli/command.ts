import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import type { Config } from '../config/load-config.ts';
import type { SettingKey } from '../config/setting-list.ts';
import { parseDuration } from '../ledger/duration.ts';
import { formatTime } from '../ledger/time.ts';
import { Refusal } from '../refusal.ts';
import { showAddress, showGiven } from '../show-given.ts';

/** The exit codes, as docs/operations.md lists them; 1 is for everything that went wrong without a number of its own. */
export const EXIT = { ok: 0, failed: 1, refused: 2, halted: 3, notReady: 3, noSnapshot: 4, differs: 5 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The settings that every command has an option for. */
export const SETTINGS_OF_EVERY_COMMAND: readonly SettingKey[] = ['data', 'logLevel', 'logFormat'];

/** The parts of the process that a command uses. Data goes to `stdout`, everything else to `stderr`. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** From this call on, SIGINT and SIGTERM abort the returned signal; a second one ends the process. */
  readonly stopSignal: () => AbortSignal;
}

/** The characters of a line where people read it; undefined where the output is no terminal. One that does not say has 80. */
export function widthOf({ isTTY, columns }: Terminal['stdout']): number | undefined {
  return isTTY === true ? columns || 80 : undefined;
}

/** One command of the command line: in a file of its own or of its group, with a line in the list of `command-line.ts`. */
export interface CliCommand {
  /** In commander's form, with its arguments: `replay <FILE...>`. */
  readonly usage: string;
  /** Lists of commands show it up to the first comma, semicolon or colon. */
  readonly summary: string;
  /** Command lines shown in the help. */
  readonly examples: readonly string[];
  /** The settings it has options for, besides --data, --config and --log-level. */
  readonly settings?: readonly SettingKey[];
  /** What the help says of some of them where that is not what it says of serve. */
  readonly helps?: Readonly<Partial<Record<SettingKey, string>>>;
  /** Its help does not list them, and refers to that of serve. */
  readonly hidesSettings?: true;
  /** Whether --data is created if missing, or not used; by default the directory must exist. */
  readonly dataDir?: 'made' | 'unused';
  /** Adds the options that are no settings. */
  readonly addOptions?: (command: Command) => void;
  /** The exit code, where that is not 0. Throws a Refusal for what the caller can fix. */
  readonly run: (invocation: Invocation) => Promise<ExitCode | undefined>;
}

/** Commands of one subject, whose name is their first word: `dead-letters list`. */
export interface CommandGroup extends Pick<CliCommand, 'usage' | 'summary' | 'examples'> {
  readonly commands: readonly CliCommand[];
}

export interface Invocation {
  readonly args: readonly string[];
  /** The command's own options, as commander parsed them. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The command line itself: with all commands for one whose name says nothing of them. */
  readonly program: Command;
  readonly config: Config;
  readonly terminal: Terminal;
  readonly logger: Logger;
}

export function hasTextLog(format: Config['logFormat'], { stderr }: Terminal): boolean {
  return format === 'text' || (format === 'auto' && stderr.isTTY === true);
}

/** The value of an option's text, or of several with commas between; null where it is not given. Throws a Refusal for a text that is no such value. */
export function parseOption<Value>(
  options: Invocation['options'],
  name: string,
  { parse, expected }: { readonly parse: (text: string) => Value | null; readonly expected: string },
): Value | null {
  // As commander names them.
  const option = options[name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
  if (option === undefined) return null;
  const text = [option].flat().join();
  const isTime = ['at', 'from', 'to'].includes(name);
  const value = parse(isTime ? timeText(text) : text);
  const others = isTime ? ', a date (its midnight), or -7d for so long ago' : '';
  if (value === null) throw new Refusal(`--${name}: given ${showGiven(text)}, expected ${expected}${others}`);
  return value;
}

/** A date, or so long before now as `-7d`, as the time that it means; any other text as it is. */
export function timeText(text: string): string {
  const ago = text.startsWith('-') ? parseDuration(text.slice(1)) : null;
  if (ago !== null) return formatTime(BigInt(Date.now()) * 1000n - BigInt(ago));
  return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
}

/** How a command prints its answer: as JSON, as CSV, or for people. */
export function formOf({ json, csv }: Invocation['options']): 'json' | 'csv' | 'people' {
  if (json === true && csv === true) throw new Refusal('--csv: given with --json, expected one of them');
  return json === true ? 'json' : csv === true ? 'csv' : 'people';
}

/** The API key of a running service. Throws a Refusal that does not repeat it. */
export function apiKeyOf({ env }: Terminal): string | null {
  const key = env.HOLDFAST_API_KEY ?? '';
  if (/^[\x21-\x7e]*$/.test(key)) return key === '' ? null : key;
  throw new Refusal('HOLDFAST_API_KEY: given a space or another character that no key has, expected a key alone');
}

/** The address of another Holdfast, or of a service. Throws a Refusal that repeats no password. */
export function addressOf(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const hasLogin = url !== null && url.username + url.password !== '';
  if (url !== null && /^https?:$/.test(url.protocol) && !hasLogin) return url;
  const given = hasLogin ? 'one with a user or password' : showAddress(text);
  throw new Refusal(
    `${name}: given ${given}, expected the http(s) address of a Holdfast, such as http://10.0.0.7:8080`,
  );
}
