import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonIndexFile } from '../../scripts/build-wasm.ts';
import {
  BYTES,
  index,
  keyEnd,
  keyStart,
  load,
  memberCount,
  memberEnd,
  valueEnd,
  valueStart,
} from '../../src/decode/partial/indexed-json.ts';
import { soakCount } from '../support/program/soak.ts';

const RUNS = soakCount(1) * 1_000;
/** Deeper values are not indexed: of members, of theirs, and of theirs. */
const LEVELS = 3;

function indexed(text: string): number {
  const bytes = Buffer.from(text);
  expect(load(bytes)).toBe(true);
  return index(0);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Member {
  readonly key: string;
  readonly value: unknown;
  readonly members: readonly Member[];
}

function membersOf(value: unknown, level = 0): Member[] {
  if (level === LEVELS || typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).map(([key, inner]) => ({ key, value: inner, members: membersOf(inner, level + 1) }));
}

/** What was indexed from one member to another. */
function read(from: number, to: number): Member[] {
  const members: Member[] = [];
  for (let i = from; i < to; i = memberEnd(i)) {
    const key = BYTES.toString('utf8', keyStart(i), keyEnd(i));
    const value: unknown = JSON.parse(BYTES.toString('utf8', valueStart(i), valueEnd(i)));
    members.push({ key, value, members: read(i + 1, memberEnd(i)) });
  }
  return members;
}

const key = fc.stringMatching(/^[a-z_:# \u00e9]{0,40}$/).filter((text) => text !== '__proto__');
const { value: anyJson } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(true, false, null),
    ),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
}));
const spaces = fc.constantFrom(undefined, 1, '\t', ' \n\r');
/** What a character may be put in place of, or between. */
const characters = fc.constantFrom(
  ...'{}[]",:\\ntfbru09.-+eE/a \t\n\r\u0000\u001f\u007f',
  'true',
  'null',
  '\\u12aF',
  '\\ud800',
  '1e5',
);

describe('the index of a JSON text', () => {
  it('is compiled from its source', async () => {
    const committed = readFileSync(join(import.meta.dirname, '../../src/decode/partial/json-index-wasm.ts'), 'utf8');
    expect(committed, 'npm run build:wasm').toBe(await jsonIndexFile());
  });

  it('has the members of the outer three levels of objects, as JSON.parse reads them', () => {
    fc.assert(
      fc.property(fc.dictionary(key, anyJson, { noNullPrototype: true }), spaces, (value, space) => {
        const text = JSON.stringify(value, null, space);
        const wanted = JSON.parse(text) as unknown;
        expect(indexed(text)).toBe(Buffer.byteLength(text));
        expect(read(0, memberCount())).toEqual(membersOf(wanted));
      }),
      { numRuns: RUNS },
    );
  });

  it('is made of exactly what JSON.parse accepts', () => {
    let [accepted, refused] = [0, 0];
    fc.assert(
      fc.property(anyJson, spaces, fc.nat(), fc.nat(3), characters, (value, space, place, removed, added) => {
        const good = JSON.stringify(value, null, space);
        const at = place % (good.length + 1);
        const text = `${good.slice(0, at)}${added}${good.slice(at + removed)}`;
        // A list, because in it no keys are indexed, which may have no escapes.
        const wrapped = `[${text}]`;
        const isAccepted = indexed(wrapped) === Buffer.byteLength(wrapped);
        expect(isAccepted, wrapped).toBe(isJson(wrapped));
        if (isAccepted) accepted++;
        else refused++;
      }),
      { numRuns: RUNS },
    );
    expect(Math.min(accepted, refused)).toBeGreaterThan(RUNS / 20);
  });

  it('holds 8192 members, and objects and lists of 64 levels', () => {
    const object = (members: number): string =>
      JSON.stringify(Object.fromEntries(Array.from({ length: members }, (_, i) => [`k${i}`, i])));
    expect(indexed(object(8192))).toBeGreaterThan(0);
    expect(memberCount()).toBe(8192);
    expect(indexed(object(8193))).toBe(-1);
    const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    expect(indexed(nested(64))).toBe(128);
    expect(indexed(nested(65))).toBe(-1);
  });

  it('has no member whose key has an escape', () => {
    expect(indexed('{"a\\n":1}')).toBe(-1);
    expect(indexed('{"a":{"b":{"c":{"d\\n":1}}}}')).toBe(27);
  });
});
