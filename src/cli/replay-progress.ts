import { SingleBar } from 'cli-progress';
import type { Logger } from 'pino';
import type { Terminal } from './command.ts';

/** Without a terminal a line of the log says this often how far a replay is. */
const LOG_INTERVAL_MS = 5_000;

export interface ReplayProgress extends Disposable {
  update(step: { file: string; readBytes: number; totalBytes: number | null; updates: number; events: number }): void;
}

/** Shows how far a replay is: a bar on a terminal that has columns, else lines in the log. */
export function createReplayProgress({
  stderr,
  logger,
  clockMs,
}: {
  stderr: Terminal['stderr'];
  logger: Logger;
  clockMs: () => number;
}): ReplayProgress {
  return stderr.isTTY === true && (stderr.columns ?? 0) > 0 ? barProgress(stderr) : logProgress(logger, clockMs);
}

function barProgress(stderr: Terminal['stderr']): ReplayProgress {
  const format = '{bar} {percentage} % of {file} | {updates} updates, {events} events | {eta_formatted} left';
  const bar = new SingleBar({ stream: stderr as NodeJS.WriteStream, format, hideCursor: true, etaBuffer: 50 });
  let shown: string | null = null;
  return {
    update({ file, readBytes, totalBytes, ...counts }) {
      const total = totalBytes ?? readBytes;
      if (shown !== file) {
        if (shown !== null) bar.stop();
        bar.start(total, readBytes, { file, ...counts });
        shown = file;
      }
      bar.setTotal(total);
      bar.update(readBytes, { file, ...counts });
    },
    [Symbol.dispose]() {
      if (shown !== null) bar.stop();
    },
  };
}

function logProgress(logger: Logger, clockMs: () => number): ReplayProgress {
  let loggedMs = clockMs();
  return {
    update(step) {
      if (clockMs() - loggedMs < LOG_INTERVAL_MS) return;
      loggedMs = clockMs();
      logger.info(step, 'replaying');
    },
    [Symbol.dispose]() {},
  };
}
