import { describe, expect, it } from 'vitest';
import { FILE_KIND } from '../../src/feed/file/file-source.ts';
import { preparePositions } from '../../src/views/write/positions.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { decodeAlone } from '../support/views/inline-feed.ts';
import { linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';

/** PRAGMA synchronous: what a commit of the feed waits for, and what one of a person waits for. */
const [NORMAL, FULL] = [1, 2];

describe('what a person decides', () => {
  it('is on disk before it is answered, and the feed is not slowed by that', async () => {
    using directory = temporaryDirectory();
    const data = directory.at('data');
    const [first = '', second = ''] = linesOf(parseLedger('00:01 : +a alice 10\n00:12 : -a'), 'scan');
    await replayInto(data, [directory.writeLines('feed.ndjson', [first, '{"foo":1}'])]);
    const commits: unknown[] = [];
    using writer = new ViewsWriter(data, {
      ...WRITER_OPTIONS,
      positions: (db) => {
        const save = preparePositions(db);
        return (partitions) => {
          commits.push(db.pragma('synchronous', { simple: true }));
          save(partitions);
        };
      },
    });
    const committed = (): unknown[] => commits.splice(0);
    const message = (offset: number, line: string) => decodeAlone({ lane: 'file', offset, bytes: Buffer.from(line) });

    writer.beginSource({ name: 'feed.ndjson', kind: FILE_KIND });
    writer.resolve(writer.deadLetters.halted()!, 'dropped', { moveOn: true });
    expect(committed().at(-1)).toBe(FULL);
    expect(writer.apply(message(3, second))).toEqual({ done: true });
    writer.commit();
    expect(committed()).toEqual([NORMAL]);
    expect(writer.apply(message(4, '{"foo":2}'))).toMatchObject({ done: false });
    expect(committed()).toEqual([NORMAL]);
    const halted = writer.deadLetters.halted()!;
    expect(writer.retry(halted, message(4, '{"foo":2}'))?.field).toBe('message');
    expect(writer.deadLetters.halted()).toEqual(halted);
    committed();
    const third = second
      .replace('"update_id":"', '"update_id":"00')
      .replace('00:12:00', '00:13:00')
      .replace(/"events_by_id":.*$/, '"root_event_ids":[],"events_by_id":{}}');
    expect(writer.retry(halted, message(4, third))).toBeNull();
    expect(committed().at(-1)).toBe(FULL);
    expect(writer.deadLetters.halted()).toBeNull();
    writer.force({ maySeal: true });
    expect(committed().at(-1)).toBe(FULL);
    writer.commit();
    expect(committed()).toEqual([NORMAL]);
  });
});
