import type { HoldingsFault, HoldingsFaultCode } from '../holdings/fault.ts';
import { machineAdvice } from '../machine-errors.ts';
import { EXIT, type ExitCode } from './command.ts';

const EXIT_OF: Readonly<Record<HoldingsFaultCode, ExitCode>> = {
  no_snapshot_in: EXIT.noSnapshot,
  no_snapshot_at: EXIT.noSnapshot,
  no_snapshot_before: EXIT.noSnapshot,
  no_snapshot_after: EXIT.noSnapshot,
  no_migration: EXIT.noSnapshot,
  no_open_round: EXIT.failed,
  not_followed: EXIT.refused,
  unknown_token: EXIT.failed,
  wrong_parameter: EXIT.refused,
  page_too_large: EXIT.failed,
  number_too_large: EXIT.failed,
  read_too_long: EXIT.failed,
  not_begun: EXIT.failed,
  store_unavailable: EXIT.failed,
};

/** The message and the exit code of a question that has no answer. */
export function explainHoldingsFault({ code, message }: HoldingsFault): { line: string; exitCode: ExitCode } {
  const exitCode = EXIT_OF[code];
  const hint = exitCode === EXIT.noSnapshot ? '; `holdfast snapshots` lists those there are' : '';
  return { line: `${message}${hint}`, exitCode };
}

/** A fault of the machine as an error that says what to do about it; any other error as it is. */
export function explainMachineFault(error: unknown, dataDir: string): unknown {
  const advice = machineAdvice(error);
  if (advice === null) return error;
  // Of a copy, the target matters.
  const { message, path, dest = path } = error as NodeJS.ErrnoException & { readonly dest?: string };
  return new Error(`${dest ?? `--data ${dataDir}`}: ${advice} (${message})`, { cause: error });
}
