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

const BAR_COLUMNS_MIN = 10;
const BAR_COLUMNS_MAX = 40;

/** A total of 0 is one that is not known. The library clears what is written in the last column. */
export const FILE_BAR: GenericFormatter = (_options, { maxWidth, total, progress, eta }, { done, file }) =>
  fileLine(maxWidth - 1, { share: total === 0 ? null : progress, secondsLeft: eta, done, file });

interface FileFacts {
  /** From 0 to 1; null where the size of the file is not known. */
  readonly share: number | null;
  /** The library gives a text, such as NULL, where it cannot estimate it. */
  readonly secondsLeft: number | string;
  readonly done: string;
  readonly file: string;
}

/** One line of at most so many columns: a part that does not fit whole is left out with those after it. */
export function fileLine(columns: number, { share, secondsLeft, done, file }: FileFacts): string {
  if (share === null) return ['time left unknown', done, file].join(' | ');
  let text = '';
  for (const part of [`${Math.floor(share * 100)} %`, leftText(secondsLeft), done, file]) {
    if (BAR_COLUMNS_MIN + text.length + 3 + part.length > columns) break;
    text += ` | ${part}`;
  }
  const width = Math.min(BAR_COLUMNS_MAX, columns - text.length);
  return `${'='.repeat(Math.round(share * width)).padEnd(width, '-')}${text}`;
}

function leftText(seconds: number | string): string {
  if (typeof seconds === 'string') return 'time left unknown';
  const minutes = Math.round(seconds / 60);
  if (seconds < 3_600) return seconds < 60 ? `${seconds} s left` : `${minutes} min left`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}

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
