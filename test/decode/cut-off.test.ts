import { expect, it } from 'vitest';
import { decodeMessage } from '../../src/decode/decode.ts';
import { LOOKS_CUT_OFF } from '../../src/ledger/bad-update.ts';

const UPDATE = '{"update_id": "é", "n": [1, -2.5e3, true, {"a": "\\u00e9\\n"}], "b": null}';

function expectedOf(bytes: Uint8Array): string {
  try {
    decodeMessage(bytes, { migrationId: 0 });
  } catch (error) {
    return (error as { expected: string }).expected;
  }
  return 'nothing else';
}

it('says of an update that breaks off anywhere that it looks cut off', () => {
  const bytes = Buffer.from(UPDATE);
  for (let length = 1; length < bytes.length; length++)
    expect(expectedOf(bytes.subarray(0, length)).endsWith(LOOKS_CUT_OFF), String(length)).toBe(true);
});

it.each(['', 'id,owner', '"text', '[1,', '{"a":1}}', '{"a" 1}', '{"a":1 "b"', '{"a":x', '{"foo":1}', '{"a":\xff\xff'])(
  'does not say so of %j',
  (text) => {
    expect(expectedOf(Buffer.from(text, 'latin1'))).not.toContain(LOOKS_CUT_OFF);
  },
);
