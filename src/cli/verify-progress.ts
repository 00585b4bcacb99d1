import { SingleBar } from 'cli-progress';
import type { Logger } from 'pino';
import type { VerifyStep } from '../views/verify/types.ts';
import type { Terminal } from './command.ts';

/** Without a terminal, how often the log reports how far the verification is. */
const LOG_INTERVAL_MS = 5_000;

export interface VerifyProgress extends Disposable {
  update(step: VerifyStep): void;
}

/** Shows how far a verification is: a bar on a terminal that has columns, else lines in the log. */
export function createVerifyProgress({
  stderr,
  logger,
  clockMs,
}: {
  stderr: Terminal['stderr'];
  logger: Logger;
  clockMs: () => number;
}): VerifyProgress {
  return stderr.isTTY === true && (stderr.columns ?? 0) > 0 ? barProgress(stderr) : logProgress(logger, clockMs);
}

function barProgress(stderr: Terminal['stderr']): VerifyProgress {
  const bar = new SingleBar({
    stream: stderr as NodeJS.WriteStream,
    format: '{bar} {phase}: {value} of {total}',
    hideCursor: true,
    clearOnComplete: true,
  });
  let isStarted = false;
  return {
    update({ phase, done, total }) {
      if (!isStarted) bar.start(total, done, { phase });
      isStarted = true;
      bar.setTotal(total);
      bar.update(done, { phase });
    },
    [Symbol.dispose]() {
      if (isStarted) bar.stop();
    },
  };
}

function logProgress(logger: Logger, clockMs: () => number): VerifyProgress {
  let loggedMs = clockMs();
  return {
    update(step) {
      if (clockMs() - loggedMs < LOG_INTERVAL_MS) return;
      loggedMs = clockMs();
      logger.info(step, 'verifying');
    },
    [Symbol.dispose]() {},
  };
}
