import { describe, expect, it } from 'vitest';
import { isHolding, readHoldingView, viewDiffers } from '../../src/decode/holding-view.ts';
import { BadUpdate } from '../../src/ledger/bad-update.ts';
import { formatTime } from '../../src/ledger/time.ts';
import type { HoldingCreate } from '../../src/ledger/update.ts';
import * as messages from '../support/decode/messages.ts';
import { ALICE, change, DSO, decode, decodeUpdate, type Json, onlyCoin } from '../support/decode/messages.ts';
import { createRandom } from '../support/ledger/random.ts';
import { soakCount } from '../support/program/soak.ts';

const REGISTRY = 'registry::1220ee';
const NO_OWNER = 'cip-112_no-owner::1220abcd';
const CREATED_AT = Date.UTC(2026, 2, 4) * 1000;
const TERMS = { instrumentId: { admin: REGISTRY, id: 'USDCx' }, amount: '1.5000000000', lock: null };
const V1 = { ...TERMS, owner: ALICE, meta: { values: {} } };
const V2 = { ...TERMS, account: { owner: ALICE, provider: null, id: '' }, meta: { values: {} } };
const LOCK = { holders: [DSO], expiresAt: null, expiresAfter: null, context: null };
const OK = { code: 0, message: '', details: [] };

function view(version: 1 | 2, viewValue: unknown, viewStatus: unknown = OK): Json {
  const interfaceId = `718a0f:Splice.Api.Token.HoldingV${version}:Holding`;
  return { interfaceId, viewStatus, implementationPackageId: '0b3f41', viewValue };
}

const v1 = (changes: Json = {}): Json => view(1, { ...V1, ...changes });
const v2 = (changes: Json = {}): Json => view(2, { ...V2, ...changes });
const named = (id: unknown, admin: unknown = REGISTRY): Json => ({ instrumentId: { admin, id } });
const account = (changes: Json): Json => ({ account: { ...V2.account, ...changes } });
const meta = (values: Json): Json => ({ meta: { values } });
const lock = (changes: Json): Json => ({ lock: { ...LOCK, ...changes } });
const lasting = (microseconds: unknown): Json => ({ expiresAfter: { microseconds } });

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

const EVENTS = 'update/Transaction/value/events';

/** A transaction of format B with one create. */
function created(changes: Json, entity = 'Amulet', payload = messages.amuletArguments()): Json {
  const event = { ...messages.ledgerApiCreate(2, entity, payload), ...changes };
  return change(messages.ledgerApiTransaction(), EVENTS, [{ CreatedEvent: event }]);
}

const OTHER = { templateId: 'p:Utility.Holding:Holding', packageName: 'utility-registry-holding-v0' };

/** The same as an import of a participant. */
function imported(changes: Json): Json {
  const event = Object.entries(changes).reduce(
    (message, [key, value]) => change(message, `events_by_id/u:0/${key}`, value),
    messages.scanImport(),
  );
  return { ...event, seed: true };
}

describe('an event with views', () => {
  it('of another template is the create of a holding, in format B and in a format A import alike', () => {
    const holding = {
      kind: 'holding',
      contractId: 'c2',
      templateId: OTHER.templateId,
      packageName: OTHER.packageName,
      ignoredAs: 'other template',
      signatories: [DSO, ALICE],
      observers: [],
      node: 2,
      createdAt: Date.UTC(2026, 2, 4, 5, 6, 7, 891) * 1000 + 11,
      view: readHoldingView([v2()], 0),
    };
    expect(decodeUpdate(created({ ...OTHER, interfaceViews: [v1(), v2()] })).events).toEqual([holding]);
    const names = { template_id: OTHER.templateId, package_name: OTHER.packageName, interface_views: [v1(), v2()] };
    expect(decodeUpdate(imported(names)).events).toEqual([{ ...holding, contractId: 'c0', node: 0 }]);
    expect(decodeUpdate(change(imported(names), 'seed', undefined)).events).toHaveLength(1);
  });

  it.each<readonly [string, Json, string]>([
    ['Amulet of splice-amulet is a coin', {}, 'Amulet'],
    ['Amulet of another package counts by its view', { packageName: 'other' }, 'holding, other package'],
    [
      'another template of splice-amulet counts by its view',
      { templateId: 'p:Splice.Amulet:Odd' },
      'holding, other template',
    ],
    ['one that never was active does not', { ...OTHER, acsDelta: false }, 'ignored, acsDelta false'],
    ['one without a Holding view does not', { ...OTHER, interfaceViews: [] }, 'ignored, other template'],
    ['one with a failed view does', { ...OTHER, interfaceViews: [view(1, null)] }, 'holding, other template'],
    [
      'without a package name it is named by its template id',
      { templateId: '#p:M:E', packageName: null },
      'holding, other template, p',
    ],
  ])('%s', (_, changes, expected) => {
    const { events, ignored } = decodeUpdate(created({ interfaceViews: [v1()], ...changes }));
    const [event] = events;
    const parts = event === undefined ? ['ignored', ...ignored] : [event.kind];
    if (event?.kind === 'holding')
      parts.push(event.ignoredAs, ...(changes.packageName === null ? [event.packageName] : []));
    expect(parts.join(', ')).toBe(expected);
  });

  it.each([
    ['contractId', ''],
    ['templateId', 'no id'],
    ['templateId', 'p\ud800:M:E'],
    ['createdAt', 'tomorrow'],
    ['signatories', ['nobody']],
    ['observers', 'nobody'],
    ['nodeId', -1],
    ['acsDelta', 'x'],
  ])('is bad where %s is %j, as that of a coin', (field, value) => {
    const read = (views: unknown) => () => decode(created({ ...OTHER, interfaceViews: views, [field]: value }));
    expect(read([v1()])).toThrow(field);
  });

  it('shows where a coin has other views than arguments', () => {
    const views = (amount: string): Json[] => [v1({ amount }), v2({ amount })];
    expect(onlyCoin(created({ interfaceViews: views('42.5') })).viewDiffers).toBeUndefined();
    expect(onlyCoin(created({ interfaceViews: views('42.6') })).viewDiffers).toBe(true);
    expect(onlyCoin(imported({ interface_views: views('42.6') })).viewDiffers).toBe(true);
  });

  it('moves to another synchronizer as a coin does', () => {
    const event = 'update/Reassignment/value/events/0/JsAssignmentEvent/createdEvent';
    const message = change(
      change(messages.ledgerApiAssignment(), `${event}/interfaceViews`, [v1()]),
      `${event}/packageName`,
      'x',
    );
    expect(decodeUpdate(message).events).toMatchObject([{ kind: 'holding', ignoredAs: 'other package' }]);
  });

  it.each<readonly [string, Json, string]>([
    ['an archive of another template', { templateId: 'p:M:E' }, 'other archive c1, other template'],
    ['one of another package', { packageName: 'x' }, 'other archive c1, other package'],
    ['one whose contract id is none', { templateId: 'p:M:E', contractId: 7 }, 'ignored, other template'],
  ])('is archived by %s', (_, changes, expected) => {
    const message = change(messages.ledgerApiTransaction(), EVENTS, [
      { ArchivedEvent: { ...messages.ledgerApiArchive(1), ...changes } },
    ]);
    const { events, ignored } = decodeUpdate(message);
    const shown = events.map(
      (event) => `${event.kind} ${event.contractId}, ${'ignoredAs' in event && event.ignoredAs}`,
    );
    expect([...shown, ...ignored.map((what) => `ignored, ${what}`)]).toEqual([expected]);
  });
});

describe('no view is a bad update', () => {
  it('whatever it is', () => {
    const seed = Date.now() % 1e6;
    const random = createRandom(seed);
    const values: unknown[] = [
      undefined,
      null,
      0,
      -1,
      7.5,
      '',
      '0',
      'x',
      '\ud800',
      'a\0',
      [],
      {},
      true,
      ALICE,
      LARGEST,
    ];
    const keys = [
      'interfaceId',
      'viewStatus',
      'viewValue',
      'code',
      'amount',
      'owner',
      'account',
      'provider',
      'id',
      'admin',
      'lock',
    ];
    keys.push(
      'instrumentId',
      'expiresAt',
      'expiresAfter',
      'microseconds',
      'meta',
      'values',
      '__proto__',
      'createArgument',
    );
    const odd = (depth: number): unknown => {
      if (depth === 0 || random.chance(0.6)) return random.pick(values);
      const inner = Array.from({ length: random.below(4) }, () => odd(depth - 1));
      return random.chance(0.3) ? inner : Object.fromEntries(inner.map((value) => [random.pick(keys), value]));
    };
    const spoilt = (value: unknown): unknown => {
      if (random.chance(0.08)) return odd(3);
      if (typeof value !== 'object' || value === null) return value;
      if (Array.isArray(value)) return value.map(spoilt);
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, spoilt(inner)]));
    };
    for (let run = 0; run < soakCount(5) * 1000; run++) {
      const views = random.chance(0.05) ? odd(3) : spoilt([v1(), v2(lock(lasting('7')))]);
      for (const message of [
        created({ ...OTHER, interfaceViews: views }),
        created({ interfaceViews: views }),
        imported({ interface_views: views }),
        imported({ interface_views: views, package_name: 'x' }),
      ]) {
        const { events, ignored } = decodeUpdate(message);
        expect(events.length + ignored.length, `seed ${seed}: ${JSON.stringify(views)}`).toBe(1);
        const [event] = events;
        if (event !== undefined && 'body' in event) expect(event.body).not.toBeInstanceOf(BadUpdate);
        if (event?.kind === 'holding')
          expect(
            JSON.stringify((event as HoldingCreate).view, (_, v) =>
              typeof v === 'bigint' ? String(v) : v,
            ).isWellFormed(),
          ).toBe(true);
      }
    }
  });

  it('however deep it is nested', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const given of ['"interfaceViews":[]', `"interfaceViews":${deep}`]) {
      for (const where of [
        given,
        given.replace('[]', `[{"interfaceId":"p:Splice.Api.Token.HoldingV1:Holding","viewValue":${deep}}]`),
      ]) {
        const text = JSON.stringify(created(OTHER)).replace('"interfaceViews":[]', where);
        const { events, ignored } = decodeUpdate(text);
        expect(events.length + ignored.length).toBe(1);
      }
    }
  });

  it('beside a payload whose numbers are read exactly', () => {
    const text = JSON.stringify(created({ interfaceViews: [v1({ amount: 7, createArgument: { x: 1.5 } })] }));
    expect(onlyCoin(text.replace('"1207"', '1207')).round).toBe(1207n);
  });

  it('of what is no holding', () => expect(isHolding([{ interfaceId: 'p:M:E' }])).toBe(false));
});
