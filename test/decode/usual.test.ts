import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Chunk } from '../../src/chunk/chunk.ts';
import { ChunkWriter } from '../../src/chunk/chunk-writer.ts';
import { Names } from '../../src/chunk/names.ts';
import { decodeMessage } from '../../src/decode/decode.ts';
import { UsualScan } from '../../src/decode/usual/scan.ts';
import { BadUpdate } from '../../src/ledger/bad-update.ts';
import { damaged } from '../support/http/fuzz-values.ts';
import { BAD_UPDATES, badMessage, GOOD } from '../support/ledger/bad-updates.ts';
import { oddLedger, realLedger } from '../support/ledger/options.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { scanLine } from '../support/ledger/scan-lines.ts';
import { soakCount } from '../support/program/soak.ts';

/** In thousands: 5 usually. */
const DAMAGED_RUNS = soakCount(5) * 1_000;
const PLACE = { partition: -1, offset: 1 };

/** What a chunk says, without the numbers of its dictionary and the places of its bytes. */
function said({ updates, events, names, extras, ids, ignoredEvents, rareEvents }: Chunk): unknown {
  const id = (columns: Chunk['updates'] | Chunk['events'], i: number): string =>
    Buffer.from(ids.subarray(columns.idStart[i]!, columns.idStart[i]! + columns.idLength[i]!)).toString('hex');
  const isCoin = (i: number): boolean => events.kind[i]! < 2;
  const row = <Columns extends object>(columns: Columns, i: number): Record<string, unknown> =>
    Object.fromEntries(Object.entries(columns as Record<string, number[]>).map(([name, column]) => [name, column[i]]));
  return {
    updates: Array.from(updates.kind, (_, i) => ({
      ...row(updates, i),
      name: names[updates.name[i]!],
      idStart: id(updates, i),
    })),
    events: Array.from(events.kind, (_, i) => ({
      ...row(events, i),
      idStart: id(events, i),
      dso: isCoin(i) && names[events.dso[i]!],
      owner: isCoin(i) && names[events.owner[i]!],
      template: isCoin(i) && names[events.template[i]!],
      extra: isCoin(i) && events.extra[i]! > 0 && extras[events.extra[i]! - 1],
      numbers: isCoin(i) ? null : 'of no coin',
      ...(isCoin(i) ? {} : { amount: 0, rate: 0, rateRound: 0, round: 0, expiry: 0, createdAt: 0, node: 0 }),
    })),
    ignored: Array.from(ignoredEvents, (name) => names[name]),
    rareEvents: [...rareEvents],
  };
}

const NOTHING = { updates: [], events: [], ignored: [], rareEvents: [] };

/** Adds a message in the general way; a bad one adds nothing. */
function addGenerally(chunk: ChunkWriter, bytes: Buffer): void {
  try {
    chunk.add(decodeMessage(bytes, { migrationId: 0 }), bytes, PLACE);
  } catch (error) {
    if (!(error instanceof BadUpdate)) throw error;
  }
}

/** What the general way makes of a message, in a chunk of its own. */
function general(bytes: Buffer): unknown {
  const chunk = new ChunkWriter(new Names()).begin(Buffer.alloc(0));
  addGenerally(chunk, bytes);
  return said(chunk.finish());
}

/** One reader and one writer for all, as in a feed: what they remember of one message must not show in another. */
const names = new Names();
const usual = new UsualScan(names);
const chunk = new ChunkWriter(names);

/** Whether the message was read straight from its bytes. If not, nothing of it may be left: either way the chunk says the same. */
function isRead(bytes: Buffer): boolean {
  chunk.begin(Buffer.alloc(0));
  const isAdded = usual.add(chunk, bytes, PLACE);
  if (!isAdded) addGenerally(chunk, bytes);
  expect(said(chunk.finish()), bytes.toString()).toEqual(general(bytes));
  return isAdded;
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

describe('the usual Scan transaction, read straight from its bytes', () => {
  it('is nearly every message of a real-shaped ledger, and says what the general way says', () => {
    const lines = linesOf(realLedger({ seed: 7, events: 10_000 }), 2_000);
    const read = lines.filter((line) => isRead(Buffer.from(line)));
    expect(read.length / lines.length).toBeGreaterThan(0.97);
  });

  it.each([1, 2, 3, 4])('says the same of a ledger in which everything happens (seed %i)', (seed) => {
    const lines = linesOf(oddLedger(seed, { migrations: 2 }), 600);
    expect(lines.filter((line) => isRead(Buffer.from(line))).length).toBeGreaterThan(200);
  });

  it('leaves every bad update to the general way', () => {
    const messages = BAD_UPDATES.scan.map((kind) => badMessage(kind, GOOD.scan![kind[0]]!()));
    const bad = messages
      .map((message) => Buffer.from(JSON.stringify(message)))
      .filter((bytes) => isDeepStrictEqual(general(bytes), NOTHING));
    expect(bad.length).toBeGreaterThan(60);
    expect(bad.filter(isRead)).toEqual([]);
  });

  /** JSON.parse keeps the last of two values under one key, so the first event is none. */
  it.each([
    ['roots', '["u:0","u:0"]', [archive('00aa'), archive('00bb')]],
    ['a root and its own child', '["u:0"]', [archive('00aa', '"u:0"'), archive('00bb')]],
  ])('leaves two events under one key to the general way: %s', (_, roots, [first, second]) => {
    const start = '{"update_id":"u","migration_id":0,"record_time":"2025-02-14T15:00:00Z","synchronizer_id":"s::1220"';
    const tree = `"root_event_ids":${roots},"events_by_id":{"u:0":${first},"u:0":${second}}`;
    expect(isRead(Buffer.from(`${start},${tree}}`))).toBe(false);
  });

  it.each([
    ['an Amulet', '"amount":{', '"more":0.10000000000000000001,"amount":{'],
    ['a lock', '"lock":{', '"lock":{"more":1.50,'],
    ['a round', '"round":{', '"more":1e2,"round":{'],
    ["a round's number", /"round":\{"number":"([0-9]+)"/, '"round":{"number":$1.0'],
  ])('leaves a number in %s to the general way, which reads it as text', (_name, known, changed) => {
    const line = linesOf(oddLedger(5), 300).find((each) => each.search(known) >= 0 && isRead(Buffer.from(each)));
    expect(isRead(Buffer.from(line!.replace(known, changed)))).toBe(false);
  });

  it('says the same, or nothing, of messages written in other ways and of damaged ones', () => {
    const random = createRandom(20_261_121);
    const lines = [...linesOf(oddLedger(5), 300), ...linesOf(realLedger({ seed: 8, events: 5_000 }), 300)];
    let [read, left] = [0, 0];
    for (let i = 0; i < DAMAGED_RUNS; i++) {
      const line = random.pick(lines);
      const change = random.pick(CHANGES);
      if (isRead(change(line, random))) read++;
      else left++;
    }
    expect(Math.min(read, left)).toBeGreaterThan(DAMAGED_RUNS / 12);
  });
});

function archive(contractId: string, children = ''): string {
  const template = '"template_id":"p:Splice.Amulet:Amulet","package_name":"splice-amulet"';
  return `{"event_type":"exercised_event","contract_id":"${contractId}",${template},"child_event_ids":[${children}],"consuming":true}`;
}

type Change = (line: string, random: Random) => Buffer;

const TOKENS = [
  '"',
  ',',
  ':',
  '{',
  '}',
  '[',
  ']',
  '\\',
  ' ',
  '\n',
  '\t',
  '0',
  '-',
  '.',
  'e1',
  'true',
  'null',
  '\\u0041',
  'é',
  '\u007f',
  '\u0001',
  'A',
];

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
    const digits = random.pick([
      '9',
      '0',
      '59',
      '60',
      '999999999',
      '9007199254740992',
      '.5',
      '0.0000000001',
      '900719.9254740991',
      '900719.9254740992',
      '1.',
      '',
    ]);
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
