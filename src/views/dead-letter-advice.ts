import { formatTime } from '../ledger/time.ts';
import { shellWord } from '../shell-word.ts';
import type { DeadLetterCode, DeadLetterFacts, Decision } from './store/dead-letter-store.ts';
import { parseColumn } from './store/stored-rows.ts';

/** The source that a dead letter names, and commands of this program as they are shown. */
interface AdviceWords {
  readonly source: string;
  readonly retry: string;
  readonly drop: string;
}
type Advice = (words: AdviceWords) => string;

interface CodeAdvice {
  readonly halted: Advice;
  /** Its usual cause with a better remedy than `halted`, by the kind of the source; `other` is for every kind not named. */
  readonly comesFrom?: Readonly<Partial<Record<string, Advice>>>;
  /** Whether `comesFrom` is true for the first message of a source only. */
  readonly ofFirstMessage?: true;
  /** What is left to do after it was dropped, if anything. */
  readonly dropped?: Advice;
}

const STOP = 'stop the service if one runs on this directory; then ';
const NEW_DIRECTORY = 'then start a new directory with all of it, in order';
const retryOrDrop: Advice = ({ retry, drop }) =>
  `${STOP}${retry} after an upgrade that can read it or with other settings, or ${drop} to continue without it`;
const retryOrDropWith = (hint: Advice): CodeAdvice => ({ halted: retryOrDrop, comesFrom: { other: hint } });
const NO_FEED: CodeAdvice = {
  halted: retryOrDrop,
  comesFrom: { file: () => 'The file may be no feed: then drop this message and replay the right file' },
  ofFirstMessage: true,
};

export const ADVICE: Readonly<Record<DeadLetterCode, CodeAdvice>> = {
  bad_field: { halted: retryOrDrop },
  cut_off: {
    halted: retryOrDrop,
    comesFrom: {
      file: () =>
        'The line looks cut off: then drop it and replay the whole file; ' +
        'nothing is lost by that, for what the line lacks is applied then',
    },
  },
  not_utf8: NO_FEED,
  not_json: NO_FEED,
  not_a_feed: NO_FEED,
  overlong: {
    halted: ({ drop }) => `${STOP}${drop} to continue without it: only its start is kept, so it cannot be retried`,
  },
  broken_batch: {
    halted: ({ drop }) => `${STOP}${drop} to continue behind the batch, without its messages`,
    comesFrom: {
      other: ({ source }) =>
        `If another replica has the batch whole, make it the leader and read ${source} into a new directory`,
    },
    dropped: () => 'nothing: ingest continues behind the batch, without its messages',
  },
  disorder: retryOrDropWith(() => `The feed may have been put together in another order: ${NEW_DIRECTORY}`),
  before_first: {
    halted: retryOrDrop,
    comesFrom: {
      file: () => `The files came in another order: ${NEW_DIRECTORY}`,
      other: ({ source }) => `${source} begins before what was read first: ${NEW_DIRECTORY}`,
    },
  },
  half_seed: retryOrDropWith(
    () =>
      'The snapshot import before it is incomplete: then start a new directory with a feed that has all of it and its marker',
  ),
  not_active: retryOrDropWith(
    () => `The feed may start in the middle, or its files came in another order: ${NEW_DIRECTORY}`,
  ),
  // Its reason names the dead letter that explains it.
  create_left_out: { halted: retryOrDrop },
  other_content: { halted: retryOrDrop },
  // Its reason names the DSO.
  dso_of_tokens: retryOrDropWith(() => `Then start a new directory with that DSO as --dso, and with all of the feed`),
  ahead_of_clock: {
    halted: ({ drop }) =>
      'set the clock right if it is wrong; else wait: the halt ends by itself once the clock has come near. ' +
      `Or ${STOP}${drop} to continue without it`,
  },
  record_time_gap: {
    halted: ({ retry, drop }) =>
      `${STOP}${retry} with a larger --record-time-gap-max if the ledger did pause for so long, ` +
      `or ${drop} to continue without it`,
  },
  overtaken: {
    halted: ({ drop }) =>
      `${STOP}${drop} to continue without it, or build the views again in another directory, which includes it`,
    comesFrom: {
      topic: () => 'Its partition was idle for longer than the others wait for it (--kafka-partition-idle)',
    },
  },
  broken_container: {
    halted: ({ source, drop }) =>
      `repair ${source}; ${STOP}${drop} to end the halt, ` +
      'and read the repaired file from its start: what was applied is skipped',
    dropped: ({ source }) => `nothing: the halt has ended; read ${source} again from its start once it is repaired`,
  },
};

/** What is left to do after a decision, for every code. */
const DECIDED: Readonly<Record<Exclude<Decision, 'halted'>, string>> = {
  quarantined:
    'nothing: the feed continued without it. ' +
    'It can only be corrected by replaying the corrected feed into a new directory',
  dropped: 'nothing: it was dropped, and the same bytes are skipped from any source',
  applied: 'nothing: it was applied at its location',
  resolved: 'nothing: the halt ended by itself',
};

export const LIST = 'dead-letters list';

/** Shows a command of this program, given the words after the program's name; a shell must accept what is in backticks. */
export type PrintCommand = (words: string) => string;

/** Without the data directory: for HTTP, where only the path of a feed file is shown. */
export const plainCommand: PrintCommand = (words) => `\`holdfast ${words}\``;

/** With the data directory, so that it may be run from anywhere. */
export function commandOn(dataDir: string): PrintCommand {
  return (words) => plainCommand(`${words} --data ${shellWord(dataDir)}`);
}

/** What the operator should do now, and the usual cause where one is known. */
export function nextText(
  { id, code, decision, source, sourceKind, offset }: DeadLetterFacts,
  print: PrintCommand,
): string {
  const words = {
    source: sourceName(source),
    retry: print('dead-letters retry'),
    drop: print(`dead-letters drop ${id}`),
  };
  const { halted, comesFrom = {}, ofFirstMessage, dropped } = ADVICE[code];
  if (decision !== 'halted') return (decision === 'dropped' ? dropped?.(words) : undefined) ?? DECIDED[decision];
  const hint = ofFirstMessage === true && offset > 1 ? undefined : (comesFrom[sourceKind] ?? comesFrom.other);
  return hint === undefined ? halted(words) : `${halted(words)}. ${hint(words)}`;
}

/** A halt in one line: the location, the update, what is wrong with it, and what the operator should do. */
export function haltLine(deadLetter: DeadLetterFacts, print: PrintCommand): string {
  const { updateId, recordTime, reason } = deadLetter;
  const update = [updateId && `update ${updateId}`, recordTime !== null && `record time ${formatTime(recordTime)}`];
  const named = update.filter(Boolean).join(', ');
  const what = named === '' ? reason : `${named}: ${reason}`;
  return `halted at ${locationText(deadLetter)}: ${what}; to continue: ${nextText(deadLetter, print)}`;
}

/** A dead letter for programs: in /status, in the log and on the command line. */
export function deadLetterJson(deadLetter: DeadLetterFacts, print: PrintCommand): Record<string, unknown> {
  const { id, kind, code, source, offset, recordTime, field, given, expected, reason } = deadLetter;
  return {
    dead_letter: id,
    kind,
    code,
    source,
    ...locationFacts(deadLetter),
    offset,
    migration_id: deadLetter.migrationId,
    update_id: deadLetter.updateId,
    record_time: recordTime === null ? null : formatTime(recordTime),
    field,
    given,
    expected,
    reason,
    next: nextText(deadLetter, print),
  };
}

/** Where a message came from, for people. */
export function locationText(deadLetter: DeadLetterFacts): string {
  const name = sourceName(deadLetter.source);
  if (deadLetter.code === 'broken_container') return name;
  const facts = Object.entries(locationFacts(deadLetter)).filter(([, value]) => value !== null);
  return [name, ...facts.map((fact) => fact.join(' '))].join(', ');
}

/** Under the names of its source. */
function locationFacts({ location }: DeadLetterFacts): Readonly<Record<string, string | number | null>> {
  return parseColumn<Record<string, string | number | null>>('dead_letter.place', location, JSON.parse);
}

function sourceName(source: string): string {
  return source === '-' ? 'standard input' : source;
}
