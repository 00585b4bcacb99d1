import { machineAdvice } from '../machine-errors.ts';

/** A fault of the machine as an error that says what to do about it; any other error as it is. */
export function explainMachineFault(error: unknown, dataDir: string): unknown {
  const advice = machineAdvice(error);
  if (advice === null) return error;
  // Of a copy, the target matters.
  const { message, path, dest = path } = error as NodeJS.ErrnoException & { readonly dest?: string };
  return new Error(`${dest ?? `--data ${dataDir}`}: ${advice} (${message})`, { cause: error });
}
