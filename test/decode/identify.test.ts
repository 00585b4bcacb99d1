import { describe, expect, it } from 'vitest';
import { identify } from '../../src/decode/identify.ts';
import * as messages from '../support/decode/messages.ts';

const of = (message: unknown): unknown => {
  return identify(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)));
};
const scan = { updateId: 'u', recordTime: '2026-03-04T05:06:08.250000Z', migrationId: 4 };
const nothing = { updateId: null, recordTime: null, migrationId: null };

describe('identify', () => {
  it.each([
    ['a Scan transaction', messages.scanTransaction(), scan],
    ['a Scan reassignment', messages.scanAssignment(), { ...scan, recordTime: '2026-03-04T05:10:00.000000Z' }],
    [
      'a Ledger API transaction',
      messages.ledgerApiTransaction(),
      { ...scan, recordTime: '2026-03-04T05:06:08.250Z', migrationId: null },
    ],
    ['a bare one', messages.bareTransaction(), { ...scan, recordTime: '2026-03-04T05:06:08.250Z', migrationId: null }],
    ['a checkpoint', messages.ledgerApiCheckpoint(), nothing],
    ['fields of a wrong type', { update_id: 7, record_time: {}, migration_id: '4' }, nothing],
    ['a value that is no object', '[1]', nothing],
    ['nothing', '', nothing],
  ])('finds what %s says of itself', (_name, message, expected) => {
    expect(of(message)).toEqual(expected);
  });

  it('searches the text of a message that is cut off, or no UTF-8', () => {
    const text = JSON.stringify(messages.scanTransaction());
    expect(of(text.slice(0, 200))).toEqual(scan);
    expect(identify(Buffer.concat([Buffer.from(text.slice(0, 200)), Buffer.from([0xff, 0xfe])]))).toEqual(scan);
  });

  it('repeats no more than 300 characters', () => {
    expect(of({ update_id: 'x'.repeat(5000) })).toMatchObject({ updateId: 'x'.repeat(300) });
  });
});
