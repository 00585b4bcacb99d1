import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import type { SettingKey } from '../config/settings.ts';
import type { Config } from '../config.ts';

/** The exit codes, as docs/operations.md lists them; 1 is for everything that went wrong without a number of its own. */
export const EXIT = { ok: 0, failed: 1, refused: 2, halted: 3, noSnapshot: 4, differs: 5 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The settings that every command has an option for. */
export const SETTINGS_OF_EVERY_COMMAND: readonly SettingKey[] = ['data', 'logLevel'];

/** What of the process a command sees. Data goes to `stdout`, everything else to `stderr`. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** From here on SIGINT and SIGTERM ask for a clean stop by this signal; a second one ends the process. */
  readonly stopSignal: () => AbortSignal;
}

/** One command of the command line: one file, and one line in the list of `command-line.ts`. */
export interface CliCommand {
  /** As commander reads it, with its arguments: `replay <files...>`. A space before an argument makes a group. */
  readonly usage: string;
  readonly summary: string;
  /** Command lines that the help shows. */
  readonly examples: readonly string[];
  /** The settings it has options for, beside --data, --config and --log-level. */
  readonly settings: readonly SettingKey[];
  /** Whether --data is made if it is missing, or is not looked at; unless this says so it is read, and must be there. */
  readonly dataDir?: 'made' | 'unused';
  /** Adds the options that are no settings. */
  readonly addOptions?: (command: Command) => void;
  /** Throws a Refusal for what the caller can fix. */
  readonly run: (invocation: Invocation) => Promise<ExitCode>;
}

export interface Invocation {
  readonly args: readonly string[];
  /** The command's own options, as commander read them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly config: Config;
  readonly terminal: Terminal;
  readonly logger: Logger;
}
