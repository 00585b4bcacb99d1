import { createHash } from 'node:crypto';
import { int64Json, parseInt64 } from '../json/exact-number.ts';
import { formatTime, parseRequestTime } from '../ledger/time.ts';
import { showGiven } from '../show-given.ts';
import type { ContractFacts, HoldingsStore, PageFacts } from './facts.ts';
import { HoldingsFault, notFollowed, snapshotFault } from './holdings-fault.ts';
import type { Question, StateQuery } from './question.ts';
import { type AnswerRules, coinTotals, feeTotals, summaryFacts } from './summary-answer.ts';
import { answerTable } from './table-answers.ts';
import { decodeToken, encodeToken, type TableQuestion } from './table-question.ts';
import { type TableForm, type TableText, tableText } from './table-rows.ts';

/** The signal that a question's answer is not wanted any more; most questions need none, and it takes time to make one. */
export type SignalOf = () => AbortSignal | undefined;

/** Answers questions, in this thread or in another one. */
export interface Answers {
  /** The JSON text of the answer. Rejects with a HoldingsFault. */
  json(question: Question, signalOf: SignalOf): Promise<string>;
  table(question: TableQuestion, form: TableForm, signalOf: SignalOf): Promise<TableText>;
}

/** Answers from a store, in this thread. */
export function answersFrom(store: HoldingsStore, rules: AnswerRules) {
  return {
    json: async (question: Question): Promise<string> => JSON.stringify(await answer(question, store, rules)),
    table: async (question: TableQuestion, form: TableForm): Promise<TableText> =>
      tableText(await answerTable(question, store), question.table, form),
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
      return feeTotals(query, facts, rules, followed?.isLimited);
    }
    case 'summary v1':
      return coinTotals(question.query, await store.facts(summaryFacts(question.query, null)), rules);
    case 'state v0':
    case 'state v1': {
      const { next, ...page } = await findPage(store, question.query);
      const fields = statePage(page, question.answer === 'state v0' ? eventFields : createdIn);
      return { ...fields, next_page_token: next === null ? null : int64Json(next) };
    }
    case 'state v2': {
      const { query } = question;
      const page = await findPage(store, continuedState(query), query);
      return { ...statePage(page, createdIn), ...opaqueToken(query, page) };
    }
    case 'snapshot before': {
      const snapshot = { ...question.query, match: 'at_or_before' } as const;
      const found = await store.facts({ kind: 'snapshot', snapshot });
      if (found === null) throw snapshotFault(snapshot);
      return { record_time: formatTime(found.recordTime) };
    }
    case 'snapshot after': {
      const { query } = question;
      const found = await store.facts({ kind: 'snapshot after', ...query });
      if (found === null)
        throw new HoldingsFault('no_snapshot_after', `No snapshots found after ${formatTime(query.recordTime)}`);
      return { record_time: formatTime(found.recordTime) };
    }
    case 'last migration': {
      const found = await store.facts({ kind: 'last migration' });
      if (found === null) throw new HoldingsFault('no_migration', 'No migrations found');
      return { migration_id: found };
    }
    case 'dso': {
      const found = await store.facts({ kind: 'dso' });
      if (found === null) throw new HoldingsFault('no_dso', 'No DSO found');
      return { dso_party_id: found };
    }
  }
}

type Page = Extract<PageFacts, { found: 'page' }>;

/** A page of contracts; `asked` is the query as it was sent, for messages. Throws a HoldingsFault where there is no such page. */
async function findPage(
  store: HoldingsStore,
  query: StateQuery,
  asked: StateQuery<bigint | string> = query,
): Promise<Page> {
  const { owners, pageSize, after } = query;
  const facts = await store.facts({ kind: 'page', snapshot: query, owners, pageSize, after });
  switch (facts.found) {
    case 'page':
      return facts;
    case 'no snapshot':
      throw snapshotFault(asked);
    case 'no such token': {
      const expected = 'a next_page_token of an earlier page of this snapshot';
      throw new HoldingsFault('unknown_token', `after: given ${showGiven(asked.after)}, expected ${expected}`);
    }
    case 'too large': {
      const expected = `at most ${facts.fitting} for this page, whose contracts are large`;
      throw new HoldingsFault('page_too_large', `page_size: given ${asked.pageSize}, expected ${expected}`);
    }
  }
}

/** The fields of a contract in version 0: the event that created it. An import's update id in the feed is its contract id. */
const eventFields = ({ updateId, contractId, node }: ContractFacts): object => ({
  event_type: 'created_event',
  event_id: `#${updateId ?? contractId}:${node}`,
});

/** In later versions; an import has no update. */
const createdIn = ({ updateId }: ContractFacts): object => ({ created_in_update_id: updateId });

/** An opaque token has a digest of the parameters, the snapshot of the first page, and the last contract of this page. */
function opaqueToken(query: StateQuery<string>, { snapshot, next }: Page): object {
  if (next === null) return {};
  return { next_page_token: encodeToken([digestOf(query), formatTime(snapshot.recordTime), String(next)]) };
}

/** The page that an opaque token continues. Throws a HoldingsFault for a token that is not of a page with the same parameters. */
function continuedState(query: StateQuery<string>): StateQuery {
  if (query.after === null) return { ...query, after: null };
  const values = decodeToken(query.after);
  const [digest, time, last] = values;
  const recordTime = typeof time === 'string' ? parseRequestTime(time) : null;
  const after = parseInt64(last);
  if (values.length === 3 && digest === digestOf(query) && recordTime !== null && after !== null)
    return { ...query, recordTime, match: 'exact', after };
  const expected = 'a next_page_token of a page for which all other parameters but page_size were the same';
  throw new HoldingsFault('unknown_token', `after: given ${showGiven(query.after)}, expected ${expected}`);
}

/** Of all parameters but `after` and the page size, which may change from page to page. */
function digestOf({ migrationId, recordTime, match, owners }: StateQuery<string>): string {
  const values = [String(migrationId), String(recordTime), match, owners];
  return createHash('sha256').update(JSON.stringify(values)).digest('base64url');
}

/** All but the token; `first`: the fields of a contract that come before those that all versions have. */
function statePage({ snapshot, contracts }: Omit<Page, 'next'>, first: (contract: ContractFacts) => object): object {
  return {
    record_time: formatTime(snapshot.recordTime),
    migration_id: snapshot.migrationId,
    created_events: contracts.map((contract) => ({
      ...first(contract),
      contract_id: contract.contractId,
      template_id: contract.templateId,
      package_name: contract.packageName,
      create_arguments: contract.createArguments,
      created_at: formatTime(contract.createdAt),
      signatories: contract.signatories,
      observers: contract.observers,
    })),
  };
}
