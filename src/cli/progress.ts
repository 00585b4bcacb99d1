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
  /** 0 where it is not known. */
  readonly total: number;
  /** Shown beside the bar. */
  readonly text: string;
  /** Fields of a log line. */
  readonly logged: object;
}

/** Shows the progress: on a terminal with columns as bars, else as lines in the log that say what is done. */
export function createProgress({
  doing,
  stderr,
  logger,
}: {
  doing: string;
  stderr: Terminal['stderr'];
  logger: Logger;
}): Progress {
  if (stderr.isTTY !== true || (stderr.columns ?? 0) === 0) return logProgress(doing, logger);
  const bar = new SingleBar({
    stream: stderr as NodeJS.WriteStream,
    format: formatBar,
    hideCursor: true,
    etaBuffer: 50,
  });
  let shownBar: string | null = null;
  return {
    update({ bar: name, done, total, text }) {
      if (shownBar !== name) {
        if (shownBar !== null) bar.stop();
        bar.start(total, done, { text });
        shownBar = name;
      }
      bar.setTotal(total);
      bar.update(done, { text });
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

const formatBar: GenericFormatter = (_options, { total, progress, eta }, { text }) => {
  if (total === 0) return text;
  const bar = '='.repeat(Math.round(progress * BAR)).padEnd(BAR, '-');
  const left = progress === 1 ? 'done' : Number.isFinite(eta) ? `${Math.ceil(eta / 60)} min left` : 'time left unknown';
  return `${bar} | ${Math.floor(progress * 100)} % | ${left} | ${text}`;
};

/** How far a feed file is read, and the results so far, such as `{ updates: 3 }`. */
export function fileStep(
  file: string,
  { read, total }: SourceProgress,
  counts: Readonly<Record<string, number>>,
): ProgressStep {
  const results = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const logged = { file, readBytes: read, totalBytes: total, ...counts };
  return { bar: file, done: read, total: total ?? 0, text: `${results.join(', ')} | ${basename(file)}`, logged };
}
