import { describe, expect, it } from 'vitest';
import { IGNORED_EVENTS, IGNORED_MESSAGES } from '../../src/decode/create.ts';
import { decodeMessage } from '../../src/decode/decode-message.ts';
import { BadUpdate } from '../../src/ledger/bad-update.ts';
import * as messages from '../support/decode/messages.ts';
import { ALICE, decode, decodeUpdate, faultOf, onlyCoin, SYNC } from '../support/decode/messages.ts';

describe('messages that are no update', () => {
  it('a checkpoint names times', () => {
    const times = [{ synchronizerId: SYNC, recordTime: Date.UTC(2026, 2, 4, 5, 7, 0) * 1000 }];
    expect(decode(messages.ledgerApiCheckpoint())).toEqual({
      kind: 'checkpoint',
      format: 'ledger-api',
      migrationId: 7,
      times,
      offset: expect.any(Number),
    });
  });

  it.each([
    ['null', 'null value'],
    ['{"update":{"TopologyTransaction":{"value":{}}}}', 'topology transaction'],
    ['{"update":{"SomethingNew":{"value":{}}}}', 'unknown update kind'],
    ['{"update":{"OffsetCheckpoint":{"value":{"synchronizerTimes":[]}}}}', 'empty checkpoint'],
  ])('%s is ignored as %s', (text, what) => {
    expect(decode(text)).toEqual({ kind: 'ignored', what });
    expect(IGNORED_MESSAGES).toContain(what);
  });

  it('keeps the names of ignored events apart from those of ignored messages', () => {
    expect(new Set([...IGNORED_EVENTS, ...IGNORED_MESSAGES]).size).toBe(
      IGNORED_EVENTS.length + IGNORED_MESSAGES.length,
    );
  });
});

describe('hostile JSON', () => {
  const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;

  it('is read in every field that does not matter', () => {
    const text = JSON.stringify(messages.scanTransaction()).replace(
      '"choice_argument":{}',
      `"choice_argument":${deep}`,
    );
    expect(decodeUpdate(text).events).toHaveLength(4);
  });

  it.each([
    ['a whole message', deep],
    ['an update id', `{"update_id":${deep}}`],
    ['an unknown kind', `{"update":{"new":${deep}}}`],
    ['an argument', JSON.stringify(messages.scanImport()).replace('"amount":', `"more":${deep},"amount":`)],
    [
      'what is next to a number to be kept',
      JSON.stringify(messages.scanImport())
        .replace('"root_event_ids":', `"more":${deep},"root_event_ids":`)
        .replace('"amount":', '"number":1.5,"amount":'),
    ],
  ])('is refused, not a crash, as %s', (_name, text) => {
    expect(faultOf(text)).toBeInstanceOf(BadUpdate);
  });

  it('finds nothing inherited under the name __proto__', () => {
    const text = JSON.stringify(messages.scanImport()).replace(
      '"owner":',
      '"__proto__":{"owner":"eve::1220"},"owner":',
    );
    expect(onlyCoin(text).owner).toBe(ALICE);
    expect(onlyCoin(text).extra).toContain('__proto__');
    expect(faultOf('{"__proto__":{"update_id":"u"}}')?.field).toBe('message');
  });

  it('that is no UTF-8 is refused', () => {
    const bytes = Buffer.from(JSON.stringify(messages.scanImport()));
    bytes[bytes.indexOf('DSO')] = 0xff;
    expect(() => decodeMessage(bytes, { migrationId: 0 })).toThrow('UTF-8');
  });
});
