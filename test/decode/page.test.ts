import { describe, expect, it } from 'vitest';
import { partialDecoder, tryDecode } from '../../src/decode/decode-message.ts';
import { containerElements } from '../../src/feed/file/elements.ts';
import type { Decoded } from '../../src/ledger/update.ts';
import { scanLedger } from '../support/scan/ledger.ts';

/** Some of them as long as a tenth of what is looked at at once. */
const LINES = scanLedger(7, 200).map((line, i) => line.replace(/}$/, `,"note":"${'é'.repeat((i * 7919) % 13_000)}"}`));
const decode = (text: string): unknown => tryDecode(Buffer.from(text), { migrationId: 0 });
const pageOf = (texts: readonly string[]): Buffer => Buffer.from(`{"transactions":[${texts.join(' ,\n')}],"more":{}}`);

function seenIn(page: Buffer): { text: string; seen: Decoded | undefined }[] {
  const elements = containerElements(page, 'page', partialDecoder(page));
  return [...elements].map(({ bytes, seen }) => ({ text: bytes.toString(), seen }));
}

describe('a page that is many times as long as what is looked at at once', () => {
  it('is decoded as each of its updates is', () => {
    const seen = seenIn(pageOf(LINES));
    expect(seen.map(({ text }) => text)).toEqual(LINES);
    // Reassignments are left to decoding.
    const plain = seen.filter(({ seen }) => seen !== undefined);
    expect(plain.length).toBeGreaterThan(LINES.length / 2);
    expect(plain.map(({ seen }) => seen)).toEqual(plain.map(({ text }) => decode(text)));
  });

  it('is decoded also while something else is decoded in between', () => {
    const page = pageOf(LINES);
    for (const { bytes, seen } of containerElements(page, 'page', partialDecoder(page))) {
      const alone = decode(bytes.toString());
      if (seen !== undefined) expect(seen).toEqual(alone);
    }
  });
});

describe('what is left to decoding', () => {
  const [plain] = LINES as [string];

  it.each([
    ['a member twice', plain.replace('{', '{"update_id":"a",')],
    ['a key with an escape', plain.replace('"update_id"', '"update\\u005fid"')],
    ['a longer one than what is looked at', plain.replace('"note":"', `"note":"${'x'.repeat(300_000)}`)],
    ['a bad one', plain.replace(/"record_time":"[^"]*"/, '"record_time":"never"')],
    ['something else', '["update_id"]'],
    ['what is no JSON', plain.replace(/}$/, ',"note2":tru}')],
  ])('%s does not disturb what is beside it', (_, odd) => {
    const known = decode(plain);
    expect(seenIn(pageOf([plain, odd, plain]))).toEqual(
      [plain, odd, plain].map((text) => ({ text, seen: text === odd ? undefined : known })),
    );
  });
});
