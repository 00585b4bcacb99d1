import { formatTime } from '../../ledger/time.ts';
import { PageTooLarge } from '../../views/read/page-too-large.ts';
import type { StoredContract, ViewsReader } from '../../views/read/types.ts';
import { HttpFault } from '../server/http-fault.ts';
import { int64Json } from '../server/lossless-json.ts';
import type { StateQuery } from './requests.ts';
import { findSnapshot } from './snapshots.ts';

/** One contract as /v1/holdings/state tells it. */
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

/** One contract as /v0/holdings/state tells it: as the event that created it. */
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

export function answerStateV0(views: ViewsReader, query: StateQuery): StatePage<CreatedEvent> {
  return answerPage(views, query, createdEvent);
}

export function answerStateV1(views: ViewsReader, query: StateQuery): StatePage<CreatedContract> {
  return answerPage(views, query, createdContract);
}

function answerPage<Contract>(
  views: ViewsReader,
  { owners, after, pageSize, ...query }: StateQuery,
  render: (contract: StoredContract) => Contract,
): StatePage<Contract> {
  const snapshot = findSnapshot(views, query);
  const page = fittingPage(pageSize, () => views.page({ snapshot, parties: owners, after, size: pageSize }));
  if (page === null)
    throw new HttpFault(400, `after: given ${after}, expected a next_page_token of an earlier page of this snapshot`);
  return {
    record_time: formatTime(snapshot.recordTime),
    migration_id: snapshot.migrationId,
    created_events: page.contracts.map(render),
    next_page_token: page.next === null ? null : int64Json(page.next),
  };
}

/** A page of which the contracts are so large that fewer must be asked for at once is the caller's to mend. */
function fittingPage<Page>(pageSize: number, read: () => Page): Page {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PageTooLarge)) throw error;
    const expected = `at most ${error.fitting} for this page, whose contracts are large`;
    throw new HttpFault(400, `page_size: given ${pageSize}, expected ${expected}`);
  }
}

function createdEvent(contract: StoredContract): CreatedEvent {
  return {
    event_type: 'created_event',
    // An import's update id is its contract id: that is what the feed calls it.
    event_id: `#${contract.updateId ?? contract.contractId}:${contract.node}`,
    ...created(contract),
  };
}

function createdContract(contract: StoredContract): CreatedContract {
  return { created_in_update_id: contract.updateId, ...created(contract) };
}

function created(contract: StoredContract): Omit<CreatedContract, 'created_in_update_id'> {
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
