import { formatTime } from '../ledger/time.ts';
import type { HoldingsStore, Snapshot } from './facts.ts';
import { HoldingsFault, notFollowed, snapshotFault } from './holdings-fault.ts';
import type { Question, TimeQuery } from './question.ts';
import { continuedState, pageFacts, stateV0, stateV1, stateV2 } from './state-answer.ts';
import { type AnswerRules, summaryFacts, summaryV0, summaryV1 } from './summary-answer.ts';
import { answerTable } from './table-answers.ts';
import type { TableQuestion } from './table-question.ts';
import { type TableForm, type TableText, tableText } from './table-rows.ts';

/** The client of a question, so that none takes all reader threads, and the signal that its answer is not wanted any more. */
export interface Asker {
  readonly client: string;
  readonly signal?: AbortSignal;
}

/** Answers questions, in this thread or in another one. */
export interface Answers {
  /** The JSON text of the answer. Rejects with a HoldingsFault. Most questions need no reader thread, and so no client. */
  json(question: Question, asker: () => Asker): Promise<string>;
  table(question: TableQuestion, form: TableForm, asker: () => Asker): Promise<TableText>;
}

/** The same of one thread, which does not ask for whom it reads. */
interface OwnAnswers {
  json(question: Question): Promise<string>;
  table(question: TableQuestion, form: TableForm): Promise<TableText>;
}

/** Answers from a store, in this thread. */
export function answersFrom(store: HoldingsStore, rules: AnswerRules): OwnAnswers {
  return {
    json: async (question) => JSON.stringify(await answer(question, store, rules)),
    table: async (question, form) => tableText(await answerTable(question, store), { name: question.table, form }),
  };
}

/** For each question: which facts are read, and the answer made from them. */
async function answer(question: Question, store: HoldingsStore, rules: AnswerRules): Promise<object> {
  const parties = 'query' in question && 'owners' in question.query ? question.query.owners : [];
  const followed = parties.length > 0 ? await store.facts({ kind: 'followed', parties }) : null;
  if (followed !== null && followed.others.length > 0) throw notFollowed(followed.others);
  switch (question.answer) {
    case 'summary v0': {
      const { query } = question;
      const facts = await store.facts(summaryFacts(query, query.asOfRound ?? 'lowest open'));
      return summaryV0(query, facts, rules, followed?.isLimited);
    }
    case 'summary v1':
      return summaryV1(question.query, await store.facts(summaryFacts(question.query, null)), rules);
    case 'state v0':
      return stateV0(question.query, await store.facts(pageFacts(question.query)));
    case 'state v1':
      return stateV1(question.query, await store.facts(pageFacts(question.query)));
    case 'state v2':
      return stateV2(question.query, await store.facts(pageFacts(continuedState(question.query))));
    case 'snapshot before': {
      const { query } = question;
      const snapshot = { ...query, match: 'at_or_before' } as const;
      return snapshotBefore(query, await store.facts({ kind: 'snapshot', snapshot }));
    }
    case 'snapshot after':
      return snapshotAfter(question.query, await store.facts({ kind: 'snapshot after', ...question.query }));
    case 'last migration':
      return lastMigration(await store.facts({ kind: 'last migration' }));
    case 'dso':
      return dsoPartyId(await store.facts({ kind: 'dso' }));
  }
}

/** The record time of the newest snapshot at or before a time. */
export function snapshotBefore(query: TimeQuery, found: Snapshot | null): { record_time: string } {
  if (found === null) throw snapshotFault({ ...query, match: 'at_or_before' });
  return { record_time: formatTime(found.recordTime) };
}

/** The record time of the first snapshot strictly after a time. */
export function snapshotAfter({ recordTime }: TimeQuery, found: Snapshot | null): { record_time: string } {
  if (found === null)
    throw new HoldingsFault('no_snapshot_after', `No snapshots found after ${formatTime(recordTime)}`);
  return { record_time: formatTime(found.recordTime) };
}

export function lastMigration(found: number | null): { migration_id: number } {
  if (found === null) throw new HoldingsFault('no_migration', 'No migrations found');
  return { migration_id: found };
}

export function dsoPartyId(found: string | null): { dso_party_id: string } {
  if (found === null) throw new HoldingsFault('no_dso', 'No DSO found');
  return { dso_party_id: found };
}
