import { describe, expect, it } from 'vitest';
import { readHoldingView, viewDiffers } from '../../src/decode/holding-view.ts';
import { formatTime } from '../../src/ledger/time.ts';
import {
  account,
  CREATED_AT,
  lasting,
  lock,
  meta,
  NO_OWNER,
  named,
  REGISTRY,
  V1,
  V2,
  v1,
  v2,
  view,
} from '../support/decode/holding-views.ts';
import { ALICE, DSO, type Json } from '../support/decode/messages.ts';

/** `USDCx of registry: alice 15000000000`, then what is unusual; or what cannot be read. */
function said(views: unknown): string | null {
  const read = readHoldingView(views, CREATED_AT);
  if (read === null) return null;
  if ('reason' in read) return `${read.reason.replace(/: given.*/s, '')} unreadable${read.admin ? ', named' : ''}`;
  const { admin, instrument, owner, provider, accountId, amount, locked, lockExpiresAt } = read;
  const nameOf = (party: string | null): string => party?.replace(/::.*/, '') ?? 'nobody';
  const rest = [
    ...(provider === null ? [] : [`at ${nameOf(provider)}`]),
    ...(accountId === '' ? [] : [JSON.stringify(accountId)]),
    ...(locked ? ['locked'] : []),
    ...(lockExpiresAt === null ? [] : [`to ${formatTime(lockExpiresAt)}`]),
  ];
  return [`${instrument} of ${nameOf(admin)}: ${nameOf(owner)} ${amount}`, ...rest].join(', ');
}

const USUAL = 'USDCx of registry: alice 15000000000';
const LARGEST = '9999999999999999999999999999.9999999999';

describe('which view of a contract counts', () => {
  it.each<readonly [string, unknown, string | null]>([
    ['none', [], null],
    ['no list', 'x', null],
    ['nothing', undefined, null],
    ['no views', [null, 7, 'x', [], {}, { interfaceId: 7 }], null],
    ['another interface', [{ ...v1(), interfaceId: 'p:Splice.Api.Token.HoldingV3:Holding' }], null],
    ['the interface of another entity', [{ ...v1(), interfaceId: 'p:Splice.Api.Token.HoldingV1:Holdings' }], null],
    ['an interface without package', [{ ...v1(), interfaceId: 'Splice.Api.Token.HoldingV1:Holding' }], null],
    ['version 1', [v1()], USUAL],
    ['version 2', [v2()], USUAL],
    ['another package id', [{ ...v1(), interfaceId: '#p:Splice.Api.Token.HoldingV1:Holding' }], USUAL],
    ['both: version 2', [v1({ amount: '7' }), v2()], USUAL],
    ['both in the other order', [v2(), v1({ amount: '7' })], USUAL],
    ['two of one version: the first', [v2(), v2({ amount: '7' })], USUAL],
    ['two of one version, of which the first failed', [view(2, null), v2()], 'HoldingV2.viewStatus unreadable'],
    ['version 2 failed', [v1(), view(2, V2, { code: 9 })], USUAL],
    ['version 2 has no value', [v1(), view(2, undefined)], USUAL],
    ['version 2 has the value null', [v1(), view(2, null)], USUAL],
    ['version 1 failed', [view(1, null), v2()], USUAL],
    ['both failed', [view(1, null), view(2, null)], 'HoldingV2.viewStatus unreadable'],
    ['version 1 alone, failed', [view(1, V1, { code: 9 })], 'HoldingV1.viewStatus unreadable'],
    ['version 2 is unreadable', [v1(), v2({ amount: 7 })], 'HoldingV2.amount unreadable, named'],
    ['no status', [{ ...v1(), viewStatus: undefined }], USUAL],
    ['the status null', [view(1, V1, null)], USUAL],
    ['a status without code', [view(1, V1, {})], USUAL],
    ['a code that is text', [view(1, V1, { code: '0' })], 'HoldingV1.viewStatus unreadable'],
    ['a status that is text', [view(1, V1, 'OK')], 'HoldingV1.viewStatus unreadable'],
    ['a value that is no object', [view(1, 'x')], 'HoldingV1.viewValue unreadable'],
    ['a value that is a list', [view(2, [])], 'HoldingV2.viewValue unreadable'],
    ['something else beside', [null, { interfaceId: 'p:M:E' }, v1()], USUAL],
  ])('%s', (_, views, expected) => expect(said(views)).toBe(expected));
});

describe('what a view says', () => {
  const nobody = 'USDCx of registry: nobody 15000000000';
  const lockedUntil = (time: string): string => `${USUAL}, locked, to ${time}`;
  it.each<readonly [string, Json, string]>([
    ['unknown fields are left', v1({ more: {} }), USUAL],
    ['an empty instrument id', v1(named('')), ' of registry: alice 15000000000'],
    ['an instrument id of 1,024 bytes', v1(named('ü'.repeat(512))), `${'ü'.repeat(512)}${USUAL.slice(5)}`],
    ['one of more', v1(named(`${'ü'.repeat(512)}x`)), 'HoldingV1.instrumentId.id unreadable'],
    ['one with a lone surrogate', v1(named('\ud800')), 'HoldingV1.instrumentId.id unreadable'],
    ['one with U+0000', v1(named('a\0b')), 'HoldingV1.instrumentId.id unreadable'],
    ['one with a line feed', v1(named('a\nb')), `a\nb${USUAL.slice(5)}`],
    ['one that is a number', v1(named(7)), 'HoldingV1.instrumentId.id unreadable'],
    ['none', v1(named(undefined)), 'HoldingV1.instrumentId.id unreadable'],
    ['no instrumentId', v1({ instrumentId: undefined }), 'HoldingV1.instrumentId unreadable'],
    ['an admin that is no party', v1(named('USDCx', 'nobody')), 'HoldingV1.instrumentId.admin unreadable'],
    ['no admin', v1(named('USDCx', null)), 'HoldingV1.instrumentId.admin unreadable'],

    ['zero', v1({ amount: '0.0000000000' }), USUAL.replace('15000000000', '0')],
    ['zero as Java writes it', v1({ amount: '0E-10' }), USUAL.replace('15000000000', '0')],
    ['the largest amount', v2({ amount: LARGEST }), USUAL.replace('15000000000', '9'.repeat(38))],
    ['a larger one', v2({ amount: `1${'0'.repeat(28)}` }), 'HoldingV2.amount unreadable, named'],
    ['11 decimals', v2({ amount: '1.00000000001' }), 'HoldingV2.amount unreadable, named'],
    ['a negative amount', v1({ amount: '-0.0000000001' }), 'HoldingV1.amount unreadable, named'],
    ['an amount that is a number', v1({ amount: 7 }), 'HoldingV1.amount unreadable, named'],
    ['an empty amount', v1({ amount: '' }), 'HoldingV1.amount unreadable, named'],
    ['no amount', v1({ amount: undefined }), 'HoldingV1.amount unreadable, named'],

    ['an owner that is no party', v1({ owner: 'a::b::c' }), 'HoldingV1.owner unreadable, named'],
    ['version 1 without owner', v1({ owner: null }), 'HoldingV1.owner unreadable, named'],
    ['the party that stands for no owner', v1({ owner: NO_OWNER }), nobody],
    [
      'one with a longer hint',
      v1({ owner: `x${NO_OWNER}` }),
      `USDCx of registry: x${NO_OWNER} 15000000000`.replace(/::\S+/, ''),
    ],
    ['that party in version 2', v2(account({ owner: NO_OWNER })), USUAL.replace('alice', 'cip-112_no-owner')],
    ['version 2 without owner', v2(account({ owner: null })), nobody],
    ['an optional owner that is left out', v2(account({ owner: undefined })), nobody],
    ['a provider', v2(account({ provider: DSO })), `${USUAL}, at DSO`],
    ['an account id', v2(account({ id: ' ü' })), `${USUAL}, " ü"`],
    ['a provider that is no party', v2(account({ provider: '' })), 'HoldingV2.account.provider unreadable, named'],
    ['an owner that is a number', v2(account({ owner: 7 })), 'HoldingV2.account.owner unreadable, named'],
    ['an account id that is null', v2(account({ id: null })), 'HoldingV2.account.id unreadable, named'],
    ['an account id with U+0000', v2(account({ id: '\0' })), 'HoldingV2.account.id unreadable, named'],
    [
      'an account id of more than 1,024 bytes',
      v2(account({ id: 'x'.repeat(1025) })),
      'HoldingV2.account.id unreadable, named',
    ],
    ['an account that is text', v2({ account: 'x' }), 'HoldingV2.account unreadable, named'],
    ['version 1 of a provider', v1(meta({ 'cip-112/account.provider': DSO })), `${USUAL}, at DSO`],
    ['version 1 of an account id', v1(meta({ 'cip-112/account.id': 'a' })), `${USUAL}, "a"`],
    ['those that are no text', v1(meta({ 'cip-112/account.provider': 7, 'cip-112/account.id': null })), USUAL],
    [
      'a provider there that is no party',
      v1(meta({ 'cip-112/account.provider': 'x' })),
      'HoldingV1.meta.values["cip-112/account.provider"] unreadable, named',
    ],
    [
      'an account id there with a lone surrogate',
      v1(meta({ 'cip-112/account.id': '\udc00' })),
      'HoldingV1.meta.values["cip-112/account.id"] unreadable, named',
    ],
    ['no meta', v1({ meta: undefined }), USUAL],
    ['those in version 2', v2(meta({ 'cip-112/account.provider': DSO })), USUAL],

    ['a lock without end', v1(lock({})), `${USUAL}, locked`],
    ['no lock, left out', v1({ lock: undefined }), USUAL],
    ['a lock until a time', v1(lock({ expiresAt: '2026-04-01T12:00:00Z' })), lockedUntil('2026-04-01T12:00:00Z')],
    ['a lock for a time', v1(lock(lasting('1'))), lockedUntil('2026-03-04T00:00:00.000001Z')],
    [
      'both: the time is earlier',
      v2(lock({ expiresAt: '2026-03-04T00:00:00Z', ...lasting('1') })),
      lockedUntil('2026-03-04T00:00:00Z'),
    ],
    [
      'both: the duration is',
      v2(lock({ expiresAt: '2026-03-05T00:00:00Z', ...lasting('1') })),
      lockedUntil('2026-03-04T00:00:00.000001Z'),
    ],
    ['a lock that has expired', v1(lock({ expiresAt: '2020-01-01T00:00:00Z' })), lockedUntil('2020-01-01T00:00:00Z')],
    ['the first time', v1(lock({ expiresAt: '0001-01-01T00:00:00Z' })), lockedUntil('0001-01-01T00:00:00Z')],
    [
      'the last time',
      v1(lock({ expiresAt: '9999-12-31T23:59:59.999999Z' })),
      lockedUntil('9999-12-31T23:59:59.999999Z'),
    ],
    ['a time before', v1(lock({ expiresAt: '0000-12-31T00:00:00Z' })), `${USUAL}, locked`],
    ['the longest duration', v1(lock(lasting('9223372036854775807'))), `${USUAL}, locked`],
    [
      'a time and the longest duration',
      v1(lock({ expiresAt: '2026-04-01T12:00:00Z', ...lasting('9223372036854775807') })),
      lockedUntil('2026-04-01T12:00:00Z'),
    ],
    ['no time', v1(lock({ expiresAt: 'tomorrow' })), 'HoldingV1.lock.expiresAt unreadable, named'],
    ['no day', v1(lock({ expiresAt: '2026-02-30T12:00:00Z' })), 'HoldingV1.lock.expiresAt unreadable, named'],
    ['a time that is a number', v1(lock({ expiresAt: 7 })), 'HoldingV1.lock.expiresAt unreadable, named'],
    ['no duration', v1(lock(lasting('many'))), 'HoldingV1.lock.expiresAfter.microseconds unreadable, named'],
    ['a duration that is text', v1(lock({ expiresAfter: '7' })), 'HoldingV1.lock.expiresAfter unreadable, named'],
    ['a lock that is text', v1({ lock: 'yes' }), 'HoldingV1.lock unreadable, named'],
  ])('%s', (_, given, expected) => expect(said([given])).toBe(expected));

  it('is given as text of which no character is cut', () => {
    const read = readHoldingView([v1({ amount: '😀'.repeat(60) })], CREATED_AT);
    expect(read).toMatchObject({ admin: REGISTRY, instrument: 'USDCx' });
    expect(read !== null && 'reason' in read && read.reason.isWellFormed() && read.reason.length).toBeLessThan(300);
  });
});

describe('the views of a coin', () => {
  const coin = { owner: ALICE, amount: 15_000_000_000n, createdAt: CREATED_AT };
  it.each<readonly [string, unknown, boolean]>([
    ['none', [], false],
    ['the same', [v1(), v2()], false],
    ['another amount', [v2({ amount: '1.5000000001' })], true],
    ['another owner', [v1({ owner: DSO })], true],
    ['no owner', [v2(account({ owner: null }))], true],
    ['another lock, instrument and account', [v2({ ...lock({}), ...named('x'), ...account({ id: 'x' }) })], false],
    ['another amount in version 1, which does not count', [v1({ amount: '7' }), v2()], false],
    ['unreadable', [v2({ amount: '-7' })], false],
    ['failed', [view(2, null)], false],
  ])('%s', (_, views, differs) => expect(viewDiffers(views, coin)).toBe(differs));
});
