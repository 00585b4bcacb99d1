import { int64Json } from '../json/int64.ts';
import { formatTime } from '../ledger/time.ts';
import type { ContractFacts, Lookup, PageFacts } from './facts.ts';
import { HoldingsFault } from './fault.ts';
import type { StateQuery } from './question.ts';
import { snapshotFault } from './snapshots.ts';

/** One contract in an answer of /v1/holdings/state. */
export interface CreatedContract {
  /** Null for imports. */
  readonly created_in_update_id: string | null;
  readonly contract_id: string;
  readonly template_id: string;
  readonly package_name: string;
  readonly create_arguments: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

/** One contract in an answer of /v0/holdings/state: the event that created it. */
export interface CreatedEvent extends Omit<CreatedContract, 'created_in_update_id'> {
  readonly event_type: 'created_event';
  readonly event_id: string;
}

export interface StatePage<Contract> {
  readonly record_time: string;
  readonly migration_id: number;
  readonly created_events: readonly Contract[];
  /** An int64: a number, or the raw JSON of one that no double holds. Null at the end. */
  readonly next_page_token: unknown;
}

export function stateFacts(query: StateQuery): Lookup<'page'> {
  const { owners, pageSize, after } = query;
  return { kind: 'page', snapshot: query, owners, pageSize, after };
}

export function stateV0(query: StateQuery, facts: PageFacts): StatePage<CreatedEvent> {
  return statePage(query, facts, createdEvent);
}

export function stateV1(query: StateQuery, facts: PageFacts): StatePage<CreatedContract> {
  return statePage(query, facts, createdContract);
}

function statePage<Contract>(
  query: StateQuery,
  facts: PageFacts,
  render: (contract: ContractFacts) => Contract,
): StatePage<Contract> {
  const { snapshot, contracts, next } = requirePage(query, facts);
  return {
    record_time: formatTime(snapshot.recordTime),
    migration_id: snapshot.migrationId,
    created_events: contracts.map(render),
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

function createdEvent(contract: ContractFacts): CreatedEvent {
  return {
    event_type: 'created_event',
    // An import's update id in the feed is its contract id.
    event_id: `#${contract.updateId ?? contract.contractId}:${contract.node}`,
    ...created(contract),
  };
}

function createdContract(contract: ContractFacts): CreatedContract {
  return { created_in_update_id: contract.updateId, ...created(contract) };
}

function created(contract: ContractFacts): Omit<CreatedContract, 'created_in_update_id'> {
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
