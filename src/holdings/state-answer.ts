import { createHash } from 'node:crypto';
import { int64Json, parseInt64 } from '../json/exact-number.ts';
import { formatTime, parseRequestTime } from '../ledger/time.ts';
import { showGiven } from '../show-given.ts';
import type { ContractFacts, Lookup, PageFacts } from './facts.ts';
import { HoldingsFault, snapshotFault } from './holdings-fault.ts';
import type { StateQuery } from './question.ts';
import { decodeToken, encodeToken } from './table-question.ts';

type Page = Extract<PageFacts, { found: 'page' }>;

/** The facts for a page. */
export function pageFacts(query: StateQuery): Lookup<'page'> {
  const { owners, pageSize, after } = query;
  return { kind: 'page', snapshot: query, owners, pageSize, after };
}

/** A page of contracts, each as the event that created it. */
export function stateV0(query: StateQuery, facts: PageFacts): object {
  const page = requirePage(query, facts);
  const fields = statePage(page, ({ updateId, contractId, node }) => {
    // An import's update id in the feed is its contract id.
    return { event_type: 'created_event', event_id: `#${updateId ?? contractId}:${node}` };
  });
  return { ...fields, next_page_token: numberToken(page) };
}

/** The same as contracts; an import has no update. */
export function stateV1(query: StateQuery, facts: PageFacts): object {
  const page = requirePage(query, facts);
  return { ...statePage(page, createdIn), next_page_token: numberToken(page) };
}

/** As version 1, with an opaque token; the last page has none. */
export function stateV2(query: StateQuery<string>, facts: PageFacts): object {
  const page = requirePage(query, facts);
  return { ...statePage(page, createdIn), ...opaqueToken(query, page) };
}

const createdIn = ({ updateId }: ContractFacts): object => ({ created_in_update_id: updateId });

/** A number, or the raw JSON of one that no double holds. */
function numberToken({ next }: Page): unknown {
  return next === null ? null : int64Json(next);
}

/** An opaque token has a digest of the parameters, the snapshot of the first page, and the last contract of this page. */
function opaqueToken(query: StateQuery<string>, { snapshot, next }: Page): object {
  if (next === null) return {};
  return { next_page_token: encodeToken([digestOf(query), formatTime(snapshot.recordTime), String(next)]) };
}

/** The page that an opaque token continues. Throws a HoldingsFault for a token that is not of a page with the same parameters. */
export function continuedState(query: StateQuery<string>): StateQuery {
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
function statePage({ snapshot, contracts }: Page, first: (contract: ContractFacts) => object): object {
  return {
    record_time: formatTime(snapshot.recordTime),
    migration_id: snapshot.migrationId,
    created_events: contracts.map((contract) => ({ ...first(contract), ...created(contract) })),
  };
}

function requirePage(query: StateQuery<bigint | string>, facts: PageFacts): Page {
  switch (facts.found) {
    case 'page':
      return facts;
    case 'no snapshot':
      throw snapshotFault(query);
    case 'no such token': {
      const expected = 'a next_page_token of an earlier page of this snapshot';
      throw new HoldingsFault('unknown_token', `after: given ${showGiven(query.after)}, expected ${expected}`);
    }
    case 'too large': {
      const expected = `at most ${facts.fitting} for this page, whose contracts are large`;
      throw new HoldingsFault('page_too_large', `page_size: given ${query.pageSize}, expected ${expected}`);
    }
  }
}

function created(contract: ContractFacts): object {
  return {
    contract_id: contract.contractId,
    template_id: contract.templateId,
    package_name: contract.packageName,
    create_arguments: contract.createArguments,
    created_at: formatTime(contract.createdAt),
    signatories: contract.signatories,
    observers: contract.observers,
  };
}
