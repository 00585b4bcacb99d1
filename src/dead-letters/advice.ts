import type { DeadLetterCode, DeadLetterFacts, Decision } from '../views/store/dead-letters.ts';

/** A command of this program; the dead letter's number and `--data` are added when it is shown. */
export interface AdvisedCommand {
  readonly command: 'dead-letters list' | 'dead-letters retry' | 'dead-letters drop';
  /** Whether the number of the dead letter follows. */
  readonly takesId: boolean;
}

/** Text with commands, and with the source that the dead letter names. */
export type Advice = readonly (string | AdvisedCommand | { readonly fact: 'source' })[];

/** Advice for a halt of this code. */
export interface CodeAdvice {
  /** What the operator does to end it. */
  readonly halted: Advice;
  /**
   * Its usual cause, if there is one, with a remedy that is better than `halted`, by the kind of the source; `other` is for every
   * kind that is not named.
   */
  readonly comesFrom?: Readonly<Partial<Record<string, Advice>>>;
  /** Whether `comesFrom` is true for the first message of a source only. */
  readonly ofFirstMessage?: true;
  /** What is left to do after it was dropped, if anything. */
  readonly dropped?: Advice;
}

export const LIST: AdvisedCommand = { command: 'dead-letters list', takesId: false };
const RETRY: AdvisedCommand = { command: 'dead-letters retry', takesId: false };
const DROP: AdvisedCommand = { command: 'dead-letters drop', takesId: true };
const SOURCE = { fact: 'source' } as const;

const STOP = 'stop the service if one runs on this directory; then ';
const NEW_DIRECTORY = 'then start a new directory with all of it, in order';
const RETRY_OR_DROP: Advice = [
  STOP,
  RETRY,
  ' after an upgrade that can read it or with other settings, or ',
  DROP,
  ' to continue without it',
];
const NO_FEED = {
  file: ['The file may be no feed: then drop this message and replay the right file'],
};

/** Advice to the operator about a halt, by what is wrong with the message. */
export const ADVICE: Readonly<Record<DeadLetterCode, CodeAdvice>> = {
  bad_field: { halted: RETRY_OR_DROP },
  cut_off: {
    halted: RETRY_OR_DROP,
    comesFrom: {
      file: [
        'The line looks cut off: then drop it and replay the whole file; ' +
          'nothing is lost by that, for what the line lacks is applied then',
      ],
    },
  },
  not_utf8: { halted: RETRY_OR_DROP, comesFrom: NO_FEED, ofFirstMessage: true },
  not_json: { halted: RETRY_OR_DROP, comesFrom: NO_FEED, ofFirstMessage: true },
  not_a_feed: { halted: RETRY_OR_DROP, comesFrom: NO_FEED, ofFirstMessage: true },
  overlong: {
    halted: [STOP, DROP, ' to continue without it: only its start is kept, so it cannot be retried'],
  },
  disorder: { halted: RETRY_OR_DROP },
  before_first: {
    halted: RETRY_OR_DROP,
    comesFrom: {
      file: [`The files came in another order: ${NEW_DIRECTORY}`],
      other: [SOURCE, ` begins before what was read first: ${NEW_DIRECTORY}`],
    },
  },
  half_seed: {
    halted: RETRY_OR_DROP,
    comesFrom: {
      other: [
        'The seed before it is not whole: then start a new directory with a feed that has all of it and its mark',
      ],
    },
  },
  not_active: {
    halted: RETRY_OR_DROP,
    comesFrom: {
      other: [`The feed may start in the middle, or its files came in another order: ${NEW_DIRECTORY}`],
    },
  },
  // Its reason names the dead letter that explains it.
  create_left_out: { halted: RETRY_OR_DROP },
  other_content: { halted: RETRY_OR_DROP },
  ahead_of_clock: {
    halted: [
      `set the clock right if it is wrong; else wait: the halt ends by itself once the clock has come near. Or ${STOP}`,
      DROP,
      ' to continue without it',
    ],
  },
  record_time_gap: {
    halted: [
      STOP,
      RETRY,
      ' with a larger --record-time-gap-max if the ledger did pause for so long, or ',
      DROP,
      ' to continue without it',
    ],
  },
  overtaken: {
    halted: [STOP, DROP, ' to continue without it, or build the views again in another directory, which includes it'],
    comesFrom: {
      topic: ['Its partition was idle for longer than the others wait for it (--kafka-partition-idle)'],
    },
  },
  broken_container: {
    halted: [
      'repair ',
      SOURCE,
      `; ${STOP}`,
      DROP,
      ' to end the halt, and read the repaired file from its start: what was applied is skipped',
    ],
    dropped: ['nothing: the halt has ended; read ', SOURCE, ' again from its start once it is repaired'],
  },
};

/** What is left to do after a decision, for every code. */
export const DECIDED: Readonly<Record<Exclude<Decision, 'halted'>, Advice>> = {
  quarantined: [
    'nothing: the feed continued without it. It can only be corrected by replaying the corrected feed into a new directory',
  ],
  dropped: ['nothing: it was dropped, and the same bytes are skipped from any source'],
  applied: ['nothing: it was applied at its own place'],
  resolved: ['nothing: the halt ended by itself'],
};

/** What the operator should do now. */
export function nextAdvice({ code, decision }: DeadLetterFacts): Advice {
  if (decision === 'halted') return ADVICE[code].halted;
  return (decision === 'dropped' ? ADVICE[code].dropped : undefined) ?? DECIDED[decision];
}

/** The usual cause of such a halt, with its remedy; null where none is known. */
export function hintAdvice({ code, decision, sourceKind, offset }: DeadLetterFacts): Advice | null {
  const { comesFrom, ofFirstMessage } = ADVICE[code];
  if (decision !== 'halted' || comesFrom === undefined || (ofFirstMessage === true && offset > 1)) return null;
  return comesFrom[sourceKind] ?? comesFrom.other ?? null;
}
