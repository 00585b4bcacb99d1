/** A request as the document shows it. It is answered with 200 on the ledger that `npm run demo` serves (fixtures/story.scan.ndjson). */
const SNAPSHOT = {
  migration_id: 0,
  record_time: '2025-02-12T00:30:00Z',
  record_time_match: 'exact',
  owner_party_ids: [
    'alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec',
    'bob::1220aea0403af1b689b3c31a44d0368f5f1e60d13736ad7afca711ed4636400f308b',
  ],
} as const;

const TIME = { migration_id: SNAPSHOT.migration_id } as const;

/** By the names of `RequestSchemas`: bodies, and the parameters of a query. */
export const REQUEST_EXAMPLES = {
  summaryV0: { ...SNAPSHOT, as_of_round: 104 },
  summaryV1: SNAPSHOT,
  state: { ...SNAPSHOT, page_size: 100 },
  before: { before: '2025-02-12T00:35:00Z', ...TIME },
  after: { after: '2025-02-12T00:35:00Z', ...TIME },
} as const;
