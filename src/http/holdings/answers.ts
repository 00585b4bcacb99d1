import type { ViewsDatabase, ViewsReader } from '../../views/read/types.ts';
import type { StateQuery, SummaryQuery, TimeQuery } from './requests.ts';
import { answerLastMigration, answerSnapshotAfter, answerSnapshotBefore } from './snapshots.ts';
import { answerStateV0, answerStateV1 } from './state.ts';
import { type AnswerRules, answerSummaryV0, answerSummaryV1 } from './summary.ts';

/** A validated request by the name of its answer: plain values, so that it can be handed to another thread. */
export type Question =
  | { readonly answer: 'summary v0' | 'summary v1'; readonly query: SummaryQuery }
  | { readonly answer: 'state v0' | 'state v1'; readonly query: StateQuery }
  | { readonly answer: 'snapshot before' | 'snapshot after'; readonly query: TimeQuery }
  | { readonly answer: 'last migration' };

/** The JSON text of a question's answer, read in one transaction. Throws an HttpFault. */
export function answerQuestion(database: ViewsDatabase, question: Question, rules: AnswerRules): string {
  return JSON.stringify(database.read((views) => answer(views, question, rules)));
}

/**
 * The same where the request bounds what it costs: null where it would take reading many contracts,
 * which is not for the event loop (design.md, section 5).
 */
export function answerIfBounded(database: ViewsDatabase, question: Question, rules: AnswerRules): string | null {
  if (question.answer === 'state v0' || question.answer === 'state v1') return null;
  try {
    return JSON.stringify(database.read((views) => answer(boundedReader(views), question, rules)));
  } catch (error) {
    if (error === UNBOUNDED) return null;
    throw error;
  }
}

const UNBOUNDED = new Error('this read is not bounded by its request');

/** Rows that one request may have read on the event loop for its fees: a tenth of a millisecond, less than another thread costs. */
const ROWS_MAX = 32;

/** The reader, but for the fees that need more contracts than that. */
function boundedReader(views: ViewsReader): ViewsReader {
  const budget = { rows: ROWS_MAX };
  return {
    ...views,
    fees(snapshot, party, round) {
      const fees = views.boundedFees(snapshot, party, round, budget);
      if (fees === null) throw UNBOUNDED;
      return fees;
    },
  };
}

function answer(views: ViewsReader, question: Question, rules: AnswerRules): object {
  switch (question.answer) {
    case 'summary v0':
      return answerSummaryV0(views, question.query, rules);
    case 'summary v1':
      return answerSummaryV1(views, question.query, rules);
    case 'state v0':
      return answerStateV0(views, question.query);
    case 'state v1':
      return answerStateV1(views, question.query);
    case 'snapshot before':
      return answerSnapshotBefore(views, question.query);
    case 'snapshot after':
      return answerSnapshotAfter(views, question.query);
    case 'last migration':
      return answerLastMigration(views);
  }
}
