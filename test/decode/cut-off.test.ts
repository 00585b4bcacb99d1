import { expect, it } from 'vitest';
import { decodeMessage } from '../../src/decode/decode-message.ts';
import type { BadUpdate } from '../../src/ledger/bad-update.ts';

const UPDATE = '{"update_id": "é", "n": [1, -2.5e3, true, {"a": "\\u00e9\\n"}], "b": null}';

function faultOf(bytes: Uint8Array): Partial<BadUpdate> {
  try {
    decodeMessage(bytes, { migrationId: 0 });
  } catch (error) {
    return error as BadUpdate;
  }
  return {};
}

it('says of an update that breaks off anywhere that it looks cut off', () => {
  const bytes = Buffer.from(UPDATE);
  for (let length = 1; length < bytes.length; length++)
    expect(faultOf(bytes.subarray(0, length)), String(length)).toMatchObject({
      code: 'cut_off',
      expected: expect.stringMatching(/; this looks cut off$/),
    });
});

it.each(['', 'id,owner', '"text', '[1,', '{"a":1}}', '{"a" 1}', '{"a":1 "b"', '{"a":x', '{"foo":1}', '{"a":\xff\xff'])(
  'does not say so of %j',
  (text) => {
    const { code, expected } = faultOf(Buffer.from(text, 'latin1'));
    expect(code).not.toBe('cut_off');
    expect(expected).not.toContain('cut off');
  },
);
