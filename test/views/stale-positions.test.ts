import DatabaseFile from 'better-sqlite3';
import { expect, it } from 'vitest';
import { makeDataDirectory } from '../../src/views/store/database.ts';
import {
  loadLanes,
  markPositionsStored,
  newLane,
  PositionMoved,
  preparePositions,
} from '../../src/views/write/positions.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { WRITER_OPTIONS } from '../support/views/replayed.ts';

const directory = freshDirectory();

it('a writer that another one has overtaken, and does not know it, stores no position', () => {
  makeDataDirectory(directory.at('views'));
  new ViewsWriter(directory.at('views'), WRITER_OPTIONS)[Symbol.dispose]();
  using db = Object.assign(new DatabaseFile(directory.at('views/views.db')), {
    [Symbol.dispose]() {
      db.close();
    },
  });
  const save = preparePositions(db);
  const lanes = new Map([['0', newLane('topic t', { start: '0', cursor: '0' })]]);
  const early = new Map([['0', newLane('topic t', { start: '0', cursor: '7' })]]);
  save(lanes);
  markPositionsStored(lanes);
  const stale = loadLanes(db);
  lanes.get('0')!.cursor = '5';
  save(lanes);
  for (const overtaken of [stale, early, new Map()]) expect(() => save(overtaken)).toThrow(PositionMoved);
  expect(loadLanes(db).get('0')!.cursor).toBe('5');
});
