import { expect, it } from 'vitest';
import { createDeadLetterCounter, type Decision } from '../../src/views/store/dead-letters.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { WRITER_OPTIONS } from '../support/views/replayed.ts';

it('counts dead letters by decision as they are left and decided, whichever it has counted before', () => {
  using folder = temporaryDirectory();
  using writer = new ViewsWriter(folder.path, WRITER_OPTIONS);
  const count = createDeadLetterCounter(writer.db);
  const leave = (decision: Decision): number =>
    writer.letters.insert({
      decision,
      kind: 'update',
      source: 'feed',
      partition: -1,
      offset: 1,
      migrationId: null,
      updateId: null,
      recordTime: null,
      field: 'message',
      given: '1',
      expected: '2',
      reason: 'message: given 1, expected 2',
      sha256: Buffer.alloc(32),
      length: 0,
      bytes: Buffer.alloc(0),
      createdAt: 0,
    });
  expect(count()).toEqual({});
  leave('quarantined');
  leave('quarantined');
  expect(count()).toEqual({ quarantined: 2 });
  leave('halted');
  expect(count()).toEqual({ quarantined: 2, halted: 1 });
  expect(count()).toEqual({ quarantined: 2, halted: 1 });
  writer.resolve(writer.letters.halted()!, 'dropped', { moveOn: false });
  expect(count()).toEqual({ quarantined: 2, dropped: 1 });
  const newest = leave('quarantined');
  expect(count()).toEqual({ quarantined: 3, dropped: 1 });
  expect(count()).toEqual({ quarantined: 3, dropped: 1 });
  expect(writer.letters.newestQuarantined()).toMatchObject({ id: newest, decision: 'quarantined', field: 'message' });
});
