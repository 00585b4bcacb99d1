import { int64Json } from '../json/int64.ts';
import { formatTime } from '../ledger/time.ts';
import type { ContractFacts, PageFacts } from './facts.ts';
import { HoldingsFault } from './fault.ts';
import type { StateQuery } from './question.ts';
import { snapshotFault } from './snapshot-answers.ts';

/** A page of contracts, each as the event that created it. */
export function stateV0(query: StateQuery, facts: PageFacts): object {
  return statePage(query, facts, ({ updateId, contractId, node }) => {
    // An import's update id in the feed is its contract id.
    return { event_type: 'created_event', event_id: `#${updateId ?? contractId}:${node}` };
  });
}

/** The same as contracts; an import has no update. */
export function stateV1(query: StateQuery, facts: PageFacts): object {
  return statePage(query, facts, ({ updateId }) => ({ created_in_update_id: updateId }));
}

/** `first`: the fields that come before those that both versions have. */
function statePage(query: StateQuery, facts: PageFacts, first: (contract: ContractFacts) => object): object {
  const { snapshot, contracts, next } = requirePage(query, facts);
  return {
    record_time: formatTime(snapshot.recordTime),
    migration_id: snapshot.migrationId,
    created_events: contracts.map((contract) => ({ ...first(contract), ...created(contract) })),
    // A number, or the raw JSON of one that no double holds.
    next_page_token: next === null ? null : int64Json(next),
  };
}

function requirePage(query: StateQuery, facts: PageFacts): Extract<PageFacts, { found: 'page' }> {
  switch (facts.found) {
    case 'page':
      return facts;
    case 'no snapshot':
      throw snapshotFault(query);
    case 'no such token': {
      const expected = 'a next_page_token of an earlier page of this snapshot';
      throw new HoldingsFault('unknown_token', `after: given ${query.after}, expected ${expected}`);
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
