import { describe, expect, it } from 'vitest';
import { withoutAborted } from '../../../src/feed/kafka/record-batches.ts';

/** Records as `<producer><offset>`: upper case for transactional, `!` after an abort, `.` after a commit, `=` for the key 0. */
function parse(record: string) {
  const [, producer, offset, end] = /^([A-Za-z])(\d+)([!.=]?)$/.exec(record)!;
  const isControlRecord = end === '!' || end === '.';
  const key = end === '!' || end === '=' ? Buffer.alloc(4) : end === '.' ? Buffer.from([0, 0, 0, 1]) : null;
  const batchContext = { producerId: producer!.toUpperCase(), inTransaction: producer === producer!.toUpperCase() };
  return { record, offset: offset!, key, isControlRecord, batchContext };
}

const CASES = [
  { name: 'nothing was aborted', records: 'A1 b2 A3.', aborted: '', left: 'A1 b2 A3.' },
  { name: 'one transaction', records: 'A1 b2 A3 A4! A5', aborted: 'A1', left: 'b2 A4! A5' },
  { name: 'two of one producer', records: 'A1 A2! A3 A4. A5 A6!', aborted: 'A1 A5', left: 'A2! A3 A4. A6!' },
  { name: 'listed as they ended', records: 'A1 B2 B3! A4 A5!', aborted: 'B2 A1', left: 'B3! A5!' },
  { name: 'a message with the key 0', records: 'A1 A2= A3 A4!', aborted: 'A1', left: 'A4!' },
  { name: 'begun before the fetch', records: 'A7 A8! A9', aborted: 'A1', left: 'A8! A9' },
  { name: 'ended after the fetch', records: 'A1 A2', aborted: 'A1', left: '' },
  { name: 'the same producer outside transactions', records: 'A1 a2 A3!', aborted: 'A1', left: 'a2 A3!' },
];

describe('the records of a fetch without those of aborted transactions', () => {
  it.each(CASES)('$name', ({ records, aborted, left }) => {
    const split = (text: string): string[] => text.split(' ').filter((each) => each !== '');
    const abortedTransactions = split(aborted).map((each) => ({ producerId: each[0]!, firstOffset: each.slice(1) }));
    const kept = withoutAborted({ messages: split(records).map(parse), abortedTransactions });
    expect(kept.map(({ record }) => record).join(' ')).toBe(left);
  });
});
