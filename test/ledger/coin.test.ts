import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CoinContent, coinContent, extraHash, sameCoin } from '../../src/ledger/coin.ts';
import type { Coin } from '../../src/ledger/update.ts';
import {
  ALICE,
  amuletArguments,
  bareTransaction,
  change,
  DSO,
  type Json,
  ledgerApi,
  ledgerApiCreate,
  lockedArguments,
  onlyCoin,
  scanCreate,
  scanImport,
} from '../support/decode/messages.ts';

type Create = { entity: 'Amulet' | 'LockedAmulet'; arguments: Json; signatories?: string[]; observers?: string[] };

function scanCoin({ entity, arguments: args, ...parties }: Create): Coin {
  return onlyCoin({ ...scanImport(), events_by_id: { 'u:0': { ...scanCreate(0, entity, args), ...parties } } });
}

function ledgerApiCoin({ entity, arguments: args, ...parties }: Create): Coin {
  const events = [{ CreatedEvent: { ...ledgerApiCreate(0, entity, args), ...parties } }];
  return onlyCoin(ledgerApi('Transaction', { ...bareTransaction(), events }));
}

const amulet = (args = amuletArguments()): Create => ({ entity: 'Amulet', arguments: args });
const locked = (args = lockedArguments()): Create => ({ entity: 'LockedAmulet', arguments: args });

/** Whether two creates have the same content, and so are the same effect of an update. */
function expectSame(one: Coin, other: Coin, same: boolean): void {
  expect(sameCoin(one, other, DSO)).toBe(same);
  expect(sameCoin(other, one, DSO)).toBe(same);
  const [left, right] = [one, other].map((coin) => {
    const { entity, owner, amount, rate, round, createdAt, extra } = coin;
    const hash = extra === null ? 0 : extraHash(extra, { ...coin, dso: DSO });
    return [entity, owner, amount, rate, round, createdAt, hash].join();
  });
  expect(left === right).toBe(same);
}

/** Its arguments as an answer writes them, read back. */
function argumentsOf(coin: Coin): unknown {
  return JSON.parse(JSON.stringify(coinContent(coin, DSO).createArguments));
}

describe('the extra of a coin', () => {
  it('is nothing for the canonical Amulet', () => {
    expect(scanCoin(amulet()).extra).toBeNull();
    expect(scanCoin({ ...amulet(), signatories: [DSO, ALICE], observers: [] }).extra).toBeNull();
  });

  it('is only the lock for the canonical LockedAmulet', () => {
    expect(scanCoin(locked()).extra).toBe('{"lock":["2026-04-01T12:00:00Z",["dso"],"for bob"]}');
    const unnamed = change(lockedArguments(), 'lock/optContext', null);
    expect(scanCoin(locked(unnamed)).extra).toBe('{"lock":["2026-04-01T12:00:00Z",["dso"]]}');
  });

  it.each([
    [{ signatories: [ALICE, DSO] }, '{"signatories":["owner","dso"]}'],
    [{ signatories: [DSO, ALICE, 'carol::1220'] }, '{"signatories":["dso","owner","carol::1220"]}'],
    [{ signatories: [DSO] }, '{"signatories":["dso"]}'],
    [{ observers: ['carol::1220', ALICE] }, '{"observers":["carol::1220","owner"]}'],
  ])('of an Amulet with %j', (parties, extra) => {
    expect(scanCoin({ ...amulet(), ...parties }).extra).toBe(extra);
  });

  it('is nothing for an Amulet of the dso itself, which signs once', () => {
    const own = change(amuletArguments(), 'owner', DSO);
    expect(scanCoin({ ...amulet(own), signatories: [DSO] }).extra).toBeNull();
    expect(scanCoin({ ...amulet(own), signatories: [DSO, DSO] }).extra).not.toBeNull();
  });

  it('keeps unknown keys with all the arguments, sorted', () => {
    const args = { ...amuletArguments(), zeta: [1, { b: null, a: 'x' }], alpha: true };
    expect(scanCoin(amulet(args)).extra).toBe(
      '{"arguments":{"alpha":true,"amount":{"createdAt":{"number":"1207"},"initialAmount":"42.5000000000",' +
        `"ratePerRound":{"rate":"0.0025000000"}},"dso":"${DSO}","owner":"${ALICE}","zeta":[1,{"a":"x","b":null}]}}`,
    );
  });

  it.each([
    ['amount/more', 1],
    ['amount/createdAt/more', 'x'],
    ['amount/ratePerRound/more', null],
  ])('keeps an unknown %s', (path, value) => {
    const args = change(amuletArguments(), path, value);
    const coin = scanCoin(amulet(args));
    expect(argumentsOf(coin)).toEqual(args);
  });

  it.each([
    ['no lock', 'lock', undefined],
    ['another kind of lock', 'lock', { holder: DSO }],
    ['a holder that is no party', 'lock/holders', ['dso']],
    ['a context that is no text', 'lock/optContext', 7],
    ['an unknown key in the lock', 'lock/more', 'x'],
    ['a lock time in another form', 'lock/expiresAt', 'later'],
    ['an unknown key next to the lock', 'more', 'x'],
  ])('keeps a LockedAmulet with %s as it came', (_name, path, value) => {
    const args = change(lockedArguments(), path, value);
    expect(argumentsOf(scanCoin(locked(args)))).toEqual(args);
  });

  it('is the same text from either format, however they write the same values', () => {
    const scan = change(lockedArguments(), 'amulet/amount/initialAmount', '4.25E+1');
    change(scan, 'amulet/amount/ratePerRound/rate', '25000E-7');
    change(scan, 'amulet/amount/createdAt/number', 1207);
    change(scan, 'lock/expiresAt', '2026-04-01T12:00:00.000000Z');
    expect(scanCoin(locked(scan))).toEqual({ ...ledgerApiCoin(locked()), templateId: expect.any(String) });
    const more = { ...scan, more: 'x' };
    expect(scanCoin(locked(more)).extra).toBe(ledgerApiCoin(locked({ ...lockedArguments(), more: 'x' })).extra);
  });
});

describe('the content rebuilt from columns, dso and extra', () => {
  const party = fc.constantFrom(DSO, ALICE, 'carol::1220', 'dave::1220');
  const parties = fc.array(party, { maxLength: 4 });
  const noKnownKey = fc.jsonValue({ noUnicodeString: false, maxDepth: 3 });
  const extraKeys = fc.dictionary(fc.constantFrom('more', '__proto__', 'constructor', 'z'), noKnownKey, { maxKeys: 2 });
  const lock = fc.record({
    holders: parties,
    expiresAt: fc.constantFrom('2026-04-01T12:00:00Z', '9999-12-31T23:59:59.999999Z', 'odd'),
    optContext: fc.option(fc.string()),
  });
  const create = fc.record({
    owner: party,
    signatories: parties,
    observers: parties,
    more: extraKeys,
    lock: fc.option(lock),
  });

  function createOf({
    owner,
    signatories,
    observers,
    more,
    lock,
  }: typeof create extends fc.Arbitrary<infer T> ? T : never): Create {
    const inner = { ...amuletArguments(), owner };
    if (lock === null) return { entity: 'Amulet', arguments: { ...inner, ...more }, signatories, observers };
    return { entity: 'LockedAmulet', arguments: { amulet: inner, lock, ...more }, signatories, observers };
  }

  it('is what the feed said, in every combination of the usual and the unusual', () => {
    fc.assert(
      fc.property(create, (drawn) => {
        const given = createOf(drawn);
        const content = coinContent(scanCoin(given), DSO);
        const { createArguments, signatories, observers }: CoinContent = content;
        expect(JSON.parse(JSON.stringify(createArguments))).toEqual(JSON.parse(JSON.stringify(given.arguments)));
        expect({ signatories, observers }).toEqual({ signatories: given.signatories, observers: given.observers });
      }),
    );
  });

  it('equals itself as a coin, with its parties in any order', () => {
    fc.assert(
      fc.property(create, (drawn) => {
        const given = createOf(drawn);
        const turned = {
          ...given,
          signatories: given.signatories?.toReversed() ?? [],
          observers: given.observers ?? [],
        };
        expectSame(scanCoin(given), ledgerApiCoin(turned), true);
      }),
    );
  });

  it('prints Decimals with ten decimals and Ints as strings', () => {
    const args = change(amuletArguments(), 'amount/ratePerRound/rate', '0E-10');
    change(args, 'amount/createdAt/number', 5);
    expect(coinContent(scanCoin(amulet(args)), DSO).createArguments).toMatchObject({
      amount: { createdAt: { number: '5' }, ratePerRound: { rate: '0.0000000000' } },
    });
  });
});

describe('two creates have the same content', () => {
  const base = scanCoin(locked());
  const other = (path: string, value: unknown): Coin => scanCoin(locked(change(lockedArguments(), path, value)));

  it.each([
    ['another node and template id', { ...base, node: 99, templateId: 'q:Splice.Amulet:LockedAmulet' }, true],
    ['signatories in another order', scanCoin({ ...locked(), signatories: [ALICE, DSO] }), true],
    ['a signatory named twice', scanCoin({ ...locked(), signatories: [DSO, ALICE, DSO] }), true],
    ['another signatory', scanCoin({ ...locked(), signatories: [DSO, ALICE, 'carol::1220'] }), false],
    ['a signatory less', scanCoin({ ...locked(), signatories: [DSO] }), false],
    ['an observer', scanCoin({ ...locked(), observers: ['carol::1220'] }), false],
    ['the amount printed otherwise', other('amulet/amount/initialAmount', '42.5'), true],
    ['another amount', other('amulet/amount/initialAmount', '42.5000000001'), false],
    ['another rate', other('amulet/amount/ratePerRound/rate', '0'), false],
    ['another round', other('amulet/amount/createdAt/number', '1208'), false],
    ['another owner', other('amulet/owner', 'carol::1220'), false],
    ['another creation time', { ...base, createdAt: base.createdAt + 1 }, false],
    ['another lock holder', other('lock/holders', ['carol::1220']), false],
    ['another lock context', other('lock/optContext', 'for carol'), false],
    ['another lock time', other('lock/expiresAt', '2026-04-01T12:00:01Z'), false],
    ['an unknown key', other('more', 'x'), false],
    ['an unknown key that is null', other('more', null), true],
    ['an unknown key of its lock that is null', other('lock/more', null), true],
    ['an unknown key of its amulet that is null', other('amulet/amount/more', null), true],
    ['another entity', scanCoin(amulet()), false],
  ])('%s: %s', (_name, coin, same) => {
    expectSame(base, coin, same);
  });

  it('when an unknown Decimal is printed otherwise', () => {
    const more = (value: unknown): Coin => scanCoin(amulet({ ...amuletArguments(), more: value }));
    expectSame(more('0E-10'), more('0.0000000000'), true);
    expectSame(more('1E-10'), more('0.0000000000'), false);
  });
});

describe('a number in an unknown key', () => {
  const FORMATS = [
    ['scan', JSON.stringify({ ...scanImport(), events_by_id: { 'u:0': scanCreate(0, 'Amulet', withMore()) } })],
    [
      'ledger-api',
      JSON.stringify(
        ledgerApi('Transaction', {
          ...bareTransaction(),
          events: [{ CreatedEvent: ledgerApiCreate(0, 'Amulet', withMore()) }],
        }),
      ),
    ],
  ] as const;

  function withMore(): Json {
    return { ...amuletArguments(), more: [{ value: 'NUMBER' }] };
  }

  function coinWith(number: string, line: string = FORMATS[0][1]): Coin {
    return onlyCoin(line.replace('"NUMBER"', number));
  }

  const NUMBERS = [
    '0.10000000000000000001',
    '0.1',
    '0.10',
    '12345678901234567890',
    '9007199254740993',
    '-9007199254740993.5',
    '1e999',
    '1E-400',
    '1.0',
    '-0',
    '0',
    `0.${'0'.repeat(900)}1`,
  ];

  it.each(FORMATS.flatMap(([format, line]) => NUMBERS.map((number) => [format, number, line] as const)))(
    'is kept by the format %s as it came: %s',
    (_format, number, line) => {
      const text = JSON.stringify(coinContent(coinWith(number, line), DSO).createArguments);
      expect(text).toContain(`"more":[{"value":${number}}]`);
    },
  );

  it.each([
    ['0.1', '0.10000000000000000001', false],
    ['0.1', '0.10000000000000000000', true],
    ['0.1', '1e-1', true],
    ['0.1', '-0.1', false],
    ['9007199254740992', '9007199254740993', false],
    ['9007199254740993', '9007199254740993.0', true],
    ['9007199254740993', '"9007199254740993"', true],
    ['12345678901234567890123456789012345', '12345678901234567890123456789012346', false],
    ['12345678901234567890123456789012345', '1.2345678901234567890123456789012345E+34', true],
    ['1e400', '1e401', false],
    ['1e400', '10E399', true],
    ['0', '-0', true],
    ['0', '0e99', true],
    ['5', '5.00000000000000000001', false],
    ['1000000000000000000000', '1e21', true],
    ['[1,2]', '[1.0,2]', true],
    ['[1,2]', '[2,1]', false],
  ])('%s and %s are the same: %s', (one, other, same) => {
    for (const [, line] of FORMATS) {
      expectSame(coinWith(one), coinWith(other, line), same);
      expectSame(coinWith(other), coinWith(one, line), same);
    }
  });

  it('is refused beyond any use', () => {
    expect(() => coinWith('1'.repeat(1_000))).not.toThrow();
    expect(() => coinWith('1'.repeat(1_001))).toThrow('with numbers of at most 1000 characters');
  });
});
