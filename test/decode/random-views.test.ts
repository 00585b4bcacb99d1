import { expect, it } from 'vitest';
import { readHoldingView } from '../../src/decode/holding-view.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { judge } from '../support/ledger/oracle-tokens.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';
import { createNames } from '../support/ledger/random-names.ts';
import { drawForgery, drawToken, drawUnreadable } from '../support/ledger/random-token.ts';
import { soakCount } from '../support/program/soak.ts';

/** What may stand anywhere in a view: around the limits of parties, ids, amounts, times and durations, and of any type. */
const VALUES: readonly unknown[] = [
  ...[null, 0, 1, -1, true, false, {}, [], [1], { a: 1 }],
  ...['', 'x', 'a::b', 'a::b::c', '::', 'é::b', 'a::b\0', 'cip-112_no-owner::x', 'cip-112_no-owner::', 'x:'],
  ...[`${'x'.repeat(185)}::b`, `${'x'.repeat(186)}::b`, `a::${'x'.repeat(68)}`, `a::${'x'.repeat(69)}`],
  ...['\ud800', '\0', 'ü'.repeat(512), 'ü'.repeat(513)],
  ...[
    '1.0',
    '-1',
    '-0',
    '1e3',
    '0E-10',
    '1E-11',
    '9.9e27',
    '1e28',
    '1e999',
    ' 1',
    '+1',
    '0x10',
    '1_0',
    'NaN',
    '.5',
    '5.',
  ],
  ...['1'.repeat(28), '1'.repeat(29), '0'.repeat(60), '0.1234567890', '0.12345678901'],
  ...['2025-02-30T00:00:00Z', '2025-02-28T24:00:00Z', '2025-02-28T23:59:60Z', '2025-02-28T00:00:00.1234567Z'],
  ...['2025-02-28T00:00:00+00:00', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z'],
  ...['5', 5, '', '-9223372036854775808', '9223372036854775807', '99999999999999999999'].map((microseconds) => {
    return { microseconds };
  }),
];

/** Sets, leaves out or repeats a few values anywhere. */
function spoilt(random: Random, given: unknown): unknown {
  const views = JSON.parse(JSON.stringify(given)) as unknown[];
  const places: [Record<string, unknown>, string][] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      places.push([value as Record<string, unknown>, key]);
      walk(inner);
    }
  };
  walk(views);
  for (let changes = 1 + random.below(3); changes > 0; changes--) {
    const [at, key] = random.pick(places);
    const roll = random.below(10);
    if (roll === 0) delete at[key];
    else if (roll === 1) views.push(structuredClone(random.pick(views)));
    else at[key] = random.pick(VALUES);
  }
  return random.chance(0.02) ? random.pick(VALUES) : views;
}

const ids = ({ admin, instrument }: { admin?: string; instrument?: string }): unknown[] => [admin, instrument];

it.each(Array.from({ length: soakCount(1) }, (_, seed) => seed))(
  'any views are read as the oracle reads them, and none throws (%i)',
  (seed) => {
    const random = createRandom(seed + 31);
    const options = oddLedger(seed);
    const draw = { random, names: createNames(random, options), shares: options.shares };
    const kinds = { holding: 0, unreadable: 0, none: 0 };
    for (let i = 0; i < 5_000; i++) {
      const createdAt = options.start + random.below(1_000_000_000);
      const { contract } = random.pick([drawToken, drawToken, drawUnreadable, drawForgery])(draw, createdAt);
      const views = random.chance(0.8) ? spoilt(random, contract.views) : contract.views;
      const judged = judge({ ...contract, views: Array.isArray(views) ? views : [] });
      const given = readHoldingView(views, createdAt);
      const shown = JSON.stringify(views);
      if (given === null) {
        kinds.none += 1;
        expect(judged, shown).toBeNull();
      } else if ('reason' in given) {
        kinds.unreadable += 1;
        expect(ids(given), shown).toEqual(judged && 'names' in judged ? ids(judged.names ?? {}) : 'a holding');
        expect(given.reason).toMatch(/./);
      } else {
        kinds.holding += 1;
        expect(judged, shown).toHaveProperty('holding');
        const { contract: _, expiresAt, ...holding } = (judged as Extract<typeof judged, { holding: unknown }>).holding;
        expect(given, shown).toEqual({ ...holding, lockExpiresAt: expiresAt });
      }
    }
    for (const count of Object.values(kinds)) expect(count).toBeGreaterThan(500);
  },
);
