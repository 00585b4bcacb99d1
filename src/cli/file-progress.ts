import { SingleBar } from 'cli-progress';
import type { Logger } from 'pino';
import type { Terminal } from './command.ts';

/** Without a terminal, how often the log reports how far the files are read. */
const LOG_INTERVAL_MS = 5_000;

export interface FileProgress extends Disposable {
  update(step: FileStep): void;
}

interface FileStep {
  readonly file: string;
  readonly readBytes: number;
  readonly totalBytes: number | null;
  /** Results so far, by name: `{ updates: 3 }`. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Shows how far feed files are read: a bar on a terminal that has columns, else lines in the log that begin with `doing`. */
export function createFileProgress({
  doing,
  stderr,
  logger,
  clockMs,
}: {
  doing: string;
  stderr: Terminal['stderr'];
  logger: Logger;
  clockMs: () => number;
}): FileProgress {
  return stderr.isTTY === true && (stderr.columns ?? 0) > 0 ? barProgress(stderr) : logProgress(doing, logger, clockMs);
}

function barProgress(stderr: Terminal['stderr']): FileProgress {
  const format = '{bar} {percentage} % of {file} | {done} | {eta_formatted} left';
  const bar = new SingleBar({ stream: stderr as NodeJS.WriteStream, format, hideCursor: true, etaBuffer: 50 });
  let shown: string | null = null;
  return {
    update({ file, readBytes, totalBytes, counts }) {
      const done = describeCounts(counts);
      const total = totalBytes ?? readBytes;
      if (shown !== file) {
        if (shown !== null) bar.stop();
        bar.start(total, readBytes, { file, done });
        shown = file;
      }
      bar.setTotal(total);
      bar.update(readBytes, { file, done });
    },
    [Symbol.dispose]() {
      if (shown !== null) bar.stop();
    },
  };
}

function logProgress(doing: string, logger: Logger, clockMs: () => number): FileProgress {
  let loggedMs = clockMs();
  return {
    update({ counts, ...step }) {
      if (clockMs() - loggedMs < LOG_INTERVAL_MS) return;
      loggedMs = clockMs();
      logger.info({ ...step, ...counts }, doing);
    },
    [Symbol.dispose]() {},
  };
}

function describeCounts(counts: FileStep['counts']): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
