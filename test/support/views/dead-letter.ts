import type { DeadLetterFacts } from '../../../src/views/store/dead-letter-store.ts';

/** The second message of a file, which a field makes bad and which halts the ingest. */
export const HALTING_DEAD_LETTER: DeadLetterFacts = {
  id: 7,
  kind: 'update',
  code: 'bad_field',
  decision: 'halted',
  source: 'feed.ndjson',
  sourceKind: 'file',
  lane: 'file',
  offset: 1,
  cursor: '2',
  place: '{"message":1}',
  migrationId: null,
  updateId: null,
  recordTime: null,
  field: 'message',
  given: '1',
  expected: '2',
  reason: 'message: given 1, expected 2',
};
