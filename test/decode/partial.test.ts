import { describe, expect, it } from 'vitest';
import { mainnetLines } from '../../bench/mainnet/feed.ts';
import {
  decodeMessage,
  decodePartially,
  decodeWhole,
  partialDecoder,
  tryDecode,
} from '../../src/decode/decode-message.ts';
import { containerElements } from '../../src/feed/file/elements.ts';
import { BadUpdate } from '../../src/ledger/bad-update.ts';
import type { Decoded, LedgerUpdate } from '../../src/ledger/update.ts';
import { BAD_UPDATES, badMessage, GOOD } from '../support/decode/bad-updates.ts';
import { scanImport } from '../support/decode/messages.ts';
import { damaged } from '../support/http/fuzz-values.ts';
import { eventLogs, withEventLogs } from '../support/ledger/event-log.ts';
import { oddLedger, realLedger } from '../support/ledger/options.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { scanLine } from '../support/ledger/scan-lines.ts';
import { soakCount } from '../support/program/soak.ts';
import { scanLedger } from '../support/scan/ledger.ts';

/** In thousands: 5 usually. */
const DAMAGED_RUNS = soakCount(5) * 1_000;
const OPTIONS = { migrationId: 0 };
const MAINNET = [...mainnetLines({ seed: 3, updates: 400 })];

/** What decoding gives: what the message means, or why it means nothing. */
function outcome(decode: typeof decodeMessage, bytes: Buffer): Decoded | BadUpdate {
  try {
    return decode(bytes, OPTIONS);
  } catch (error) {
    if (error instanceof BadUpdate) return error;
    throw error;
  }
}

/** Whether the message is decoded without all of it being parsed. Either way it means the same, or is bad for the same reason. */
function isPartial(bytes: Buffer): boolean {
  const whole = outcome(decodeWhole, bytes);
  const partial = decodePartially(bytes);
  if (partial !== null) expect(partial, bytes.toString()).toEqual(whole);
  expect(outcome(decodeMessage, bytes), bytes.toString()).toEqual(whole);
  return partial !== null;
}

function linesOf(options: Parameters<typeof randomLedger>[0], count: number): string[] {
  const lines: string[] = [];
  for (const item of randomLedger(options)) {
    const line = scanLine(item);
    if (line !== null) lines.push(line);
    if (lines.length === count) break;
  }
  return lines;
}

describe('a Scan transaction of which not all is parsed', () => {
  it('is every message of a feed of the shape of MainNet', () => {
    expect(MAINNET.filter((line) => !isPartial(Buffer.from(line)))).toEqual([]);
  });

  it('is nearly every message of a ledger of coins', () => {
    const lines = linesOf(realLedger({ seed: 7, events: 10_000 }), 2_000);
    expect(lines.filter((line) => isPartial(Buffer.from(line))).length / lines.length).toBeGreaterThan(0.97);
  });

  it.each([1, 2, 3, 4])('means the same in a ledger in which everything happens (seed %i)', (seed) => {
    const lines = linesOf(oddLedger(seed, { migrations: 2 }), 600);
    expect(lines.filter((line) => isPartial(Buffer.from(line))).length).toBeGreaterThan(200);
  });

  it('is an import with views too, whatever its template', () => {
    const views = '"interface_views":[{"interfaceId":"p:Splice.Api.Token.HoldingV1:Holding","viewValue":null}]';
    for (const name of ['Amulet', 'Other']) {
      const line = JSON.stringify(scanImport())
        .replace(':Amulet"', `:${name}"`)
        .replace('"observers":[]', `$&,${views}`);
      expect(isPartial(Buffer.from(line))).toBe(true);
      expect((decodePartially(Buffer.from(line)) as LedgerUpdate).events).toHaveLength(1);
    }
  });

  it('is one with EventLog events too, however their choice is written', () => {
    const [line = ''] = linesOf(realLedger({ seed: 7, events: 100 }), 1);
    const logs = ['alice > : +10 mint', 'alice > : -1 bob ; bob > package=other : +1 alice'];
    for (const text of logs.map((each) => withEventLogs(line, eventLogs(each)))) {
      const written = text.replace('"EventLog_', '"Event\\u004cog_');
      for (const bytes of [text, written].map((each) => Buffer.from(each))) {
        expect(isPartial(bytes)).toBe(true);
        expect((decodePartially(bytes) as LedgerUpdate).eventLogs).toHaveLength(1);
      }
    }
  });

  it('is never a bad update, whose fault is found in all of the message', () => {
    const messages = BAD_UPDATES.scan.map((kind) => badMessage(kind, GOOD.scan![kind[0]]!()));
    const bad = messages
      .map((message) => Buffer.from(JSON.stringify(message)))
      .filter((bytes) => outcome(decodeWhole, bytes) instanceof BadUpdate);
    expect(bad.length).toBeGreaterThan(60);
    expect(bad.filter(isPartial)).toEqual([]);
  });

  it.each([
    [
      'texts beyond ASCII and escapes where nothing is read',
      true,
      '"choice":"',
      '"choice":"\\u00e9\\n\ud83d\ude00 \u00fc',
    ],
    ['members of the transaction that are not known', true, '{"update_id"', '{"more":"1","update_id"'],
    [
      'a member of an event that is not known',
      true,
      '"event_type"',
      '"more":{"a":[1,-2.5e+3,true,false,null,{}]},"event_type"',
    ],
    ['a byte order mark', false, '{"update_id"', '\ufeff{"update_id"'],
    ['no events', false, '"events_by_id"', '"events"'],
    ['no roots', false, '"root_event_ids"', '"roots"'],
    ['an escape in a key', false, '"template_id"', '"templ\\u0061te_id"'],
    ['an escape in an event id', false, /:0"\]/, '\\u003a0"]'],
    ['a template of ours by an escape', true, /"template_id":"[^"]*"/, '"template_id":"p:Splice.Amulet:Amule\\u0074"'],
    ['a member of the transaction twice', false, '{"update_id"', '{"record_time":"x","update_id"'],
    ['a member of an event twice', false, '"event_type"', '"template_id":"p:M:E","event_type"'],
    ['lists nested beyond 64', false, '"choice":', `"more":${'['.repeat(65)}${']'.repeat(65)},"choice":`],
    ['objects nested beyond 64', false, '"choice":', `"more":${'{"a":'.repeat(65)}1${'}'.repeat(65)},"choice":`],
    ['no JSON where nothing is read', false, '"choice":"', '"choice":"\\x'],
    ['a number that is none where nothing is read', false, '"choice":', '"more":01,"choice":'],
    ['text after the transaction', false, /\}$/, '}{}'],
  ])('with %s: %s', (_name, expected, known, changed) => {
    const line = MAINNET[0]!;
    const bytes = Buffer.from(line.replace(known, () => changed));
    expect(bytes.toString()).not.toBe(line);
    expect(isPartial(bytes)).toBe(expected);
  });

  /** Texts are read a word at a time. */
  it('may have every character but a quote, a backslash and those of control, at every place of a word', () => {
    const line = MAINNET[0]!;
    for (let code = 0; code <= 0x80; code++) {
      const character = String.fromCharCode(code);
      for (const before of ['', 'a', 'ab', 'abc']) {
        const changed = line.replace('"choice":"', () => `"choice":"${before}${character}`);
        expect(isPartial(Buffer.from(changed)), changed).toBe(code >= 0x20 && !'"\\'.includes(character));
      }
    }
  });

  it('is none that ends too early, wherever that is, and whatever was read before', () => {
    const bytes = Buffer.from(MAINNET[0]!);
    const whole: number[] = [];
    for (let end = 0; end < bytes.length; end += 7) {
      decodePartially(bytes);
      if (isPartial(bytes.subarray(0, end))) whole.push(end);
    }
    expect(whole).toEqual([]);
  });

  it('is none of more than a mebibyte', () => {
    const long = MAINNET[0]!.replace('"choice":"', () => `"choice":"${'x'.repeat(2 ** 20)}`);
    expect(isPartial(Buffer.from(long))).toBe(false);
  });

  it('is none that has other bytes than UTF-8', () => {
    const bytes = Buffer.from(MAINNET[0]!);
    bytes[bytes.indexOf('"choice":"') + 10] = 0xff;
    expect(isPartial(bytes)).toBe(false);
  });

  /** Of two values under one key JSON.parse keeps the last one only. */
  it.each([
    ['two under one key, listed twice', '["u:0","u:0"]', ['u:0', archive('00aa')], ['u:0', archive('00bb')]],
    [
      'two under one key, a root and its own child',
      '["u:0"]',
      ['u:0', archive('00aa', '"u:0"')],
      ['u:0', archive('00bb')],
    ],
    ['one listed twice and one not at all', '["u:0","u:0"]', ['u:0', archive('00aa')], ['u:1', archive('00bb')]],
    ['one that is not listed', '["u:0"]', ['u:0', archive('00aa')], ['u:1', archive('00bb')]],
    ['one that is not there', '["u:0","u:2"]', ['u:0', archive('00aa')], ['u:1', archive('00bb')]],
  ])('is none with events of which %s', (_, roots, ...events) => {
    const start = '{"update_id":"u","migration_id":0,"record_time":"2025-02-14T15:00:00Z","synchronizer_id":"s::1220"';
    const members = events.map(([id, event]) => `"${id}":${event}`).join(',');
    expect(isPartial(Buffer.from(`${start},"root_event_ids":${roots},"events_by_id":{${members}}}`))).toBe(false);
  });

  it.each([
    ['an Amulet', '"amount":{', '"more":0.10000000000000000001,"amount":{'],
    ['a lock', '"lock":{', '"lock":{"more":1.50,'],
    ['a round', '"round":{', '"more":1e2,"round":{'],
    ["a round's number", /"round":\{"number":"([0-9]+)"/, '"round":{"number":$1.0'],
  ])('is none with a number in %s, which must be read as text', (_name, known, changed) => {
    const line = linesOf(oddLedger(5), 300).find((each) => each.search(known) >= 0 && isPartial(Buffer.from(each)));
    expect(isPartial(Buffer.from(line!.replace(known, changed)))).toBe(false);
  });

  it('means the same where messages are written in other ways, or damaged', () => {
    const random = createRandom(20_261_121);
    const coins = [...linesOf(oddLedger(5), 300), ...linesOf(realLedger({ seed: 8, events: 5_000 }), 300)];
    const lines = [...coins, ...MAINNET.filter(({ length }) => length < 10_000).slice(0, 150)];
    let [partial, whole] = [0, 0];
    for (let i = 0; i < DAMAGED_RUNS; i++) {
      const line = random.pick(lines);
      const change = random.pick(CHANGES);
      if (isPartial(change(line, random))) partial++;
      else whole++;
    }
    expect(Math.min(partial, whole)).toBeGreaterThan(DAMAGED_RUNS / 12);
  });
});

function archive(contractId: string, children = ''): string {
  const template = '"template_id":"p:Splice.Amulet:Amulet","package_name":"splice-amulet"';
  return `{"event_type":"exercised_event","contract_id":"${contractId}",${template},"child_event_ids":[${children}],"consuming":true}`;
}

type Change = (line: string, random: Random) => Buffer;

const TOKENS = [...'",:{}[]\\ \n\t0-.é\u007f\u0001A', 'e1', 'true', 'null', '\\u0041'];
const DIGITS = '9 0 59 60 999999999 9007199254740992 .5 0.0000000001 900719.9254740991 900719.9254740992 1. '.split(
  ' ',
);

const CHANGES: readonly Change[] = [
  (line, random) => damaged(Buffer.from(line), random),
  /** A token put in, taken out or written over. */
  (line, random) => {
    const at = random.below(line.length);
    return Buffer.from(line.slice(0, at) + random.pick(TOKENS) + line.slice(at + random.below(2)));
  },
  /** A structural character doubled, dropped or followed by white space. */
  (line, random) => {
    const places = [...line.matchAll(/[{}[\]:,"]/g)].map(({ index }) => index);
    const at = random.pick(places);
    return Buffer.from(
      line.slice(0, at) + random.pick(['', `${line[at]}${line[at]}`, `${line[at]} \n`]) + line.slice(at + 1),
    );
  },
  /** One value of the message in another's place, or a key that occurs twice. */
  (line, random) => {
    const members = [...line.matchAll(/"[a-zA-Z_]+":(?:"[^"\\]*"|\[[^[\]{}]*\]|true|false|\{\})/g)];
    const [from, to] = [random.pick(members), random.pick(members)];
    const text = random.chance(0.5) ? from[0] : `${to[0]},${from[0]}`;
    return Buffer.from(line.slice(0, to.index) + text + line.slice(to.index + to[0].length));
  },
  /** Digits changed: times, amounts, rounds and nodes at their bounds. */
  (line, random) => {
    const numbers = [...line.matchAll(/"(?:\d{1,30}(?:\.\d{1,12})?|\d{4}-[^"]*)"/g)];
    const number = random.pick(numbers);
    const digits = random.pick(DIGITS);
    const at = number.index + 1 + random.below(number[0].length - 1);
    return Buffer.from(line.slice(0, at) + digits + line.slice(at + random.below(3)));
  },
  /** Members in another order. */
  (line, random) => Buffer.from(JSON.stringify(shuffled(JSON.parse(line), random))),
  /** White space between everything. */
  (line, random) => Buffer.from(JSON.stringify(JSON.parse(line), null, random.below(3))),
];

function shuffled(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const keyed = Object.entries(value).map(([name, each]) => ({
    name,
    each: shuffled(each, random),
    key: random.word(),
  }));
  if (random.chance(0.5)) keyed.sort((a, b) => a.key - b.key);
  return Object.fromEntries(keyed.map(({ name, each }) => [name, each]));
}

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
