import { expect, it } from 'vitest';
import type { IngestStatus } from '../../src/ingest/ingest-status.ts';
import { createStatusReporter, noTimings, type StatusReporter } from '../../src/ingest/ingest-status.ts';
import { createDeadLetterCounter, type Decision } from '../../src/views/store/dead-letter-store.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { watchStatements } from '../support/program/watched-statements.ts';
import { HALTING_DEAD_LETTER } from '../support/views/dead-letter.ts';
import { WRITER_OPTIONS } from '../support/views/replayed.ts';

/** A look-up in a tree of any size, or the rows that came since the last status. */
const PAGES_MAX = 16;
const BYTES = Buffer.alloc(1_000);
const { id: _, ...FACTS } = HALTING_DEAD_LETTER;
const DEAD_LETTER = { ...FACTS, sha256: Buffer.alloc(32), length: BYTES.length, bytes: BYTES, createdAt: 0 };

function leave(writer: ViewsWriter, decision: Decision, count = 1): void {
  writer.db.transaction(() => {
    for (let i = 0; i < count; i++) writer.deadLetters.insert({ ...DEAD_LETTER, decision });
  })();
}

it('counts dead letters by decision as they are left and decided, whichever it has counted before', () => {
  using folder = temporaryDirectory();
  using writer = new ViewsWriter(folder.path, WRITER_OPTIONS);
  const count = createDeadLetterCounter(writer.db);
  expect(count()).toEqual({});
  leave(writer, 'quarantined');
  leave(writer, 'quarantined');
  expect(count()).toEqual({ quarantined: 2 });
  leave(writer, 'halted');
  expect(count()).toEqual({ quarantined: 2, halted: 1 });
  expect(count()).toEqual({ quarantined: 2, halted: 1 });
  writer.resolve(writer.deadLetters.halted()!, 'dropped', { moveOn: false });
  expect(count()).toEqual({ quarantined: 2, dropped: 1 });
  leave(writer, 'quarantined');
  expect(count()).toEqual({ quarantined: 3, dropped: 1 });
  expect(count()).toEqual({ quarantined: 3, dropped: 1 });
  expect(writer.deadLetters.newestQuarantined()).toMatchObject({ id: 4, decision: 'quarantined', field: 'message' });
});

it('looks at few pages for each status, however many there are, and whatever is halted, decided or undone', () => {
  using folder = temporaryDirectory();
  using watched = watchStatements();
  using writer = new ViewsWriter(folder.path, WRITER_OPTIONS);
  leave(writer, 'quarantined', 2_000);
  leave(writer, 'halted');
  const { status, last } = statusOf(writer);
  status.report({ halted: writer.deadLetters.halted() });
  expect(last()).toEqual({ quarantined: 2_000, halted: 1 });

  const reported = (change: Parameters<typeof status.report>[0] = {}): object => {
    for (const statement of watched.statements) statement.pagesMost = 0;
    status.report(change);
    expect(watched.statements.filter(({ pagesMost }) => pagesMost > PAGES_MAX)).toEqual([]);
    return last();
  };
  for (let i = 0; i < 3; i++) expect(reported()).toEqual({ quarantined: 2_000, halted: 1 });
  writer.resolve(status.state.halted!, 'dropped', { moveOn: false });
  leave(writer, 'quarantined', 10);
  expect(reported({ halted: null })).toEqual({ quarantined: 2_010, dropped: 1 });
  leave(writer, 'halted');
  for (let i = 0; i < 3; i++) expect(reported()).toEqual({ quarantined: 2_010, dropped: 1, halted: 1 });
  const undone = writer.db.transaction(() => {
    writer.deadLetters.decide(writer.deadLetters.halted()!, 'applied');
    leave(writer, 'quarantined', 10);
    throw new Error('undone');
  });
  expect(undone).toThrow('undone');
  expect(reported()).toEqual({ quarantined: 2_010, dropped: 1, halted: 1 });

  const again = statusOf(writer);
  again.status.report({});
  expect(again.last()).toEqual({ quarantined: 2_010, dropped: 1, halted: 1 });
});

function statusOf(writer: ViewsWriter): { readonly status: StatusReporter; readonly last: () => object } {
  let deadLetters: IngestStatus['deadLetters'] = {};
  const status = createStatusReporter(writer, noTimings(), (reported) => {
    ({ deadLetters } = reported);
  });
  return { status, last: () => deadLetters };
}
