import { basename } from 'node:path';
import { type GenericFormatter, SingleBar } from 'cli-progress';
import type { Logger } from 'pino';
import type { SourceProgress } from '../feed/source.ts';
import type { Terminal } from './command.ts';

/** Without a terminal the progress is logged this often. */
const LOG_INTERVAL_MS = 5_000;

export interface Progress extends Disposable {
  update(step: ProgressStep): void;
}

export interface ProgressStep {
  /** Each gets a bar of its own. */
  readonly bar: string;
  readonly done: number;
  readonly total: number;
  /** What the bar's format uses. */
  readonly shown: Readonly<Record<string, string>>;
  /** Fields of a log line. */
  readonly logged: object;
}

/** Shows the progress: on a terminal with columns as bars of that format, else as lines in the log that say what is done. */
export function createProgress({
  doing,
  format,
  clears = false,
  stderr,
  logger,
}: {
  doing: string;
  format: string | GenericFormatter;
  /** Whether the last bar is removed in the end. */
  clears?: boolean;
  stderr: Terminal['stderr'];
  logger: Logger;
}): Progress {
  if (stderr.isTTY !== true || (stderr.columns ?? 0) === 0) return logProgress(doing, logger);
  const stream = stderr as NodeJS.WriteStream;
  const bar = new SingleBar({ stream, format, hideCursor: true, etaBuffer: 50, clearOnComplete: clears });
  let shownBar: string | null = null;
  return {
    update({ bar: name, done, total, shown }) {
      if (shownBar !== name) {
        if (shownBar !== null) bar.stop();
        bar.start(total, done, shown);
        shownBar = name;
      }
      bar.setTotal(total);
      bar.update(done, shown);
    },
    [Symbol.dispose]() {
      if (shownBar !== null) bar.stop();
    },
  };
}

function logProgress(doing: string, logger: Logger): Progress {
  let loggedMs = performance.now();
  return {
    update({ logged }) {
      if (performance.now() - loggedMs < LOG_INTERVAL_MS) return;
      loggedMs = performance.now();
      logger.info(logged, doing);
    },
    [Symbol.dispose]() {},
  };
}

const BAR = 20;

/** The bar of a feed file; a total of 0 is one that is not known. */
export const FILE_BAR: GenericFormatter = (_options, { total, progress, eta }, { done, file }) => {
  if (total === 0) return `${done} | ${file}`;
  const bar = '='.repeat(Math.round(progress * BAR)).padEnd(BAR, '-');
  const left = Number.isFinite(eta) ? `${Math.ceil(eta / 60)} min left` : 'time left unknown';
  return `${bar} | ${Math.floor(progress * 100)} % | ${left} | ${done} | ${file}`;
};

/** How far a feed file is read, and the results so far, such as `{ updates: 3 }`. */
export function fileStep(
  file: string,
  { read, total }: SourceProgress,
  counts: Readonly<Record<string, number>>,
): ProgressStep {
  const done = Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
  const logged = { file, readBytes: read, totalBytes: total, ...counts };
  return { bar: file, done: read, total: total ?? 0, shown: { file: basename(file), done }, logged };
}
