import type { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';

/** The program's one logger: JSON lines on standard error, times in ISO 8601. */
export function createLogger(level: string, stderr: Writable): Logger {
  return pino({ level, timestamp: pino.stdTimeFunctions.isoTime }, stderr);
}
