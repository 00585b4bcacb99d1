import { fromPortable, toPortable } from './portable-error.ts';

/** A thread's line for the log; the process has one logger, in its main thread. */
export interface LogLine {
  readonly level: Level;
  readonly fields: object;
  readonly message: string;
}

type Level = 'debug' | 'info' | 'warn' | 'error';
export type ThreadLogger = Readonly<Record<Level, (fields: object, message: string) => void>>;

/** A logger that sends its lines to the thread's starter. */
export function forwardingLogger(forward: (line: LogLine) => void): ThreadLogger {
  const at = (level: Level) => (fields: object, message: string) =>
    forward({ level, fields: sendable(fields), message });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** An error may hold what no other thread can be sent. */
function sendable(fields: object): object {
  return 'err' in fields ? { ...fields, err: fromPortable(toPortable(fields.err), []) } : fields;
}
