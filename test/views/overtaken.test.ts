import { expect, it } from 'vitest';
import { IMPORT_TIME, isLate, newLane, noteFurthest } from '../../src/views/write/positions.ts';

/** Messages `<partition>:<migration>@<time>` as they are applied, `i` for an import; `*` after those that were overtaken. */
const CASES = [
  { name: 'one partition, in order', messages: '0:0@1 0:0@5 0:0@9' },
  { name: 'one partition whose synchronizers are apart', messages: '0:0@5 0:0@3 0:0@9 0:0@4' },
  { name: 'two partitions in merge order', messages: '0:0@1 1:0@2 0:0@3 1:0@3 0:0@7' },
  { name: 'a partition that falls behind itself', messages: '0:0@1 1:0@8 1:0@2 0:0@9' },
  { name: 'a partition that was passed over', messages: '0:0@1 1:0@2 0:0@9 1:0@5* 1:0@6* 1:0@9 1:0@10' },
  { name: 'one that comes for the first time', messages: '0:0@9 1:0@5* 1:0@9' },
  { name: 'an import after updates of its migration', messages: '0:1@i 0:1@3 1:1@i* 1:1@4' },
  { name: 'an import of a later migration', messages: '0:0@9 1:1@i 0:1@2' },
  { name: 'an older migration', messages: '0:1@1 1:0@9* 1:1@2' },
];

it.each(CASES)('$name', ({ messages }) => {
  const lanes = new Map(['0', '1'].map((lane) => [lane, newLane('topic', { start: '0', cursor: '0' })]));
  const found = messages.split(' ').map((message) => {
    const [, lane, migrationId, time] = /^(\d):(\d)@(\d+|i)/.exec(message)!;
    const at = { migrationId: Number(migrationId), recordTime: time === 'i' ? IMPORT_TIME : Number(time) };
    const overtaken = isLate(lanes, lanes.get(lane!)!, at);
    noteFurthest(lanes.get(lane!)!, at);
    return `${message.replace('*', '')}${overtaken ? '*' : ''}`;
  });
  expect(found.join(' ')).toBe(messages);
});

it('says nothing of files', () => {
  const furthest = { migrationId: 0, recordTime: 9 };
  const file = newLane('feed.ndjson', { start: null, cursor: '1' });
  const lanes = new Map([
    ['0', { ...newLane('topic', { start: '0', cursor: '0' }), furthest }],
    ['file', file],
  ]);
  expect(isLate(lanes, file, { migrationId: 0, recordTime: 1 })).toBe(false);
});
