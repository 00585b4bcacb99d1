import { CommanderError } from 'commander';
import { HoldingsFault, type HoldingsFaultCode } from '../holdings/fault.ts';
import { machineAdvice } from '../machine-errors.ts';
import { Refusal } from '../refusal.ts';
import { EXIT, type ExitCode } from './command.ts';
import { safeText } from './terminal-text.ts';

/** Of a question that has no answer. */
const EXIT_OF: Readonly<Partial<Record<HoldingsFaultCode, ExitCode>>> = {
  no_snapshot_in: EXIT.noSnapshot,
  no_snapshot_at: EXIT.noSnapshot,
  no_snapshot_before: EXIT.noSnapshot,
  no_snapshot_after: EXIT.noSnapshot,
  no_migration: EXIT.noSnapshot,
  no_dso: EXIT.noSnapshot,
  not_followed: EXIT.refused,
  wrong_parameter: EXIT.refused,
};

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof HoldingsFault) return EXIT_OF[error.code] ?? EXIT.failed;
  // Commander throws the help and the version too, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.refused;
  return error instanceof Refusal ? EXIT.refused : EXIT.failed;
}

/** Every failure is one line on standard error. */
export function failureLine(error: unknown, help: string): string {
  // For a bare `holdfast` or group, commander's error has the whole help in place of a message.
  if (error instanceof CommanderError && error.code === 'commander.help') return `no command given; ${help} lists them`;
  const message = error instanceof Error ? error.message : String(error);
  const line = safeText(
    message
      .replace(/^error: /, '')
      .replaceAll(/\s*\n\s*/g, ' ')
      .trim(),
  );
  if (error instanceof CommanderError) return `${line.replace(/\.$/, '')}; see ${help}`;
  return exitCodeOf(error) === EXIT.noSnapshot ? `${line}; \`holdfast snapshots\` lists those there are` : line;
}

/** A fault of the machine as an error that says what to do about it; any other error as it is. */
export function explainMachineFault(error: unknown, dataDir: string): unknown {
  const advice = machineAdvice(error);
  if (advice === null) return error;
  // Of a copy, the target matters.
  const { message, path, dest = path } = error as NodeJS.ErrnoException & { readonly dest?: string };
  return new Error(`${dest ?? `--data ${dataDir}`}: ${advice} (${message})`, { cause: error });
}
