import { describe, expect, it } from 'vitest';
import { tryDecode } from '../../src/decode/decode.ts';
import { placeReader, type TransactionPlace } from '../../src/decode/partial/places.ts';
import { containerElements } from '../../src/feed/file/elements.ts';

interface Seen {
  readonly text: string;
  readonly place: TransactionPlace | undefined;
}

function seenIn(page: string): Seen[] {
  const bytes = Buffer.from(page);
  const elements = containerElements(bytes, 'page', placeReader(bytes));
  return [...elements].map(({ bytes, seen }) => ({ text: bytes.toString(), place: seen }));
}

function transaction(number: number, more: object = {}): object {
  const names = {
    update_id: `1220${number}`,
    migration_id: 3,
    record_time: `2025-02-12T00:00:00.00000${number % 10}Z`,
  };
  return {
    ...names,
    synchronizer_id: 'sync::é',
    events_by_id: {},
    note: 'x'.repeat((number * 7919) % 60_000),
    ...more,
  };
}

function placeOf(item: object): TransactionPlace {
  const {
    update_id: updateId,
    migration_id: migrationId,
    record_time: recordTime,
    ...rest
  } = item as Record<string, unknown>;
  return { updateId, migrationId, recordTime, synchronizerId: rest.synchronizer_id };
}

const pageOf = (texts: readonly string[]): string => `{"transactions":[${texts.join(' ,\n')}],"more":{}}`;

describe('the place of a transaction', () => {
  it('is read of each in a page that is many times as long as what is looked at at once', () => {
    const items = Array.from({ length: 60 }, (_, i) => transaction(i));
    const texts = items.map((item) => JSON.stringify(item));
    expect(seenIn(pageOf(texts))).toEqual(items.map((item, i) => ({ text: texts[i], place: placeOf(item) })));
  });

  it('is read also while something else is decoded in between', () => {
    const items = Array.from({ length: 20 }, (_, i) => transaction(i));
    const bytes = Buffer.from(pageOf(items.map((item) => JSON.stringify(item))));
    const places = [];
    for (const { bytes: element, seen } of containerElements(bytes, 'page', placeReader(bytes))) {
      tryDecode(element, { migrationId: 0 });
      places.push(seen);
    }
    expect(places).toEqual(items.map(placeOf));
  });

  it.each([
    ['a reassignment', JSON.stringify({ ...transaction(1), event: { migration_id: 4 } })],
    ['a member twice', '{"update_id":"a","update_id":"b"}'],
    ['a key with an escape', '{"update\\u005fid":"a"}'],
    ['a longer one than what is looked at', JSON.stringify(transaction(1, { note: 'x'.repeat(300_000) }))],
    ['something else', '["update_id"]'],
    ['what is no JSON', '{"update_id":"a","note":tru}'],
  ])('is left to decoding: %s', (_, odd) => {
    const plain = JSON.stringify(transaction(1));
    const places = seenIn(pageOf([plain, odd, plain]));
    const known = placeOf(transaction(1));
    expect(places).toEqual([plain, odd, plain].map((text) => ({ text, place: text === odd ? undefined : known })));
  });
});
