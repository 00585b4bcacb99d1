import { AMULET, type Contract, type Micros } from './history.ts';
import type { Draw } from './random-contract.ts';
import { plainDecimal, shortTime } from './wire-text.ts';
import {
  type HoldingLock,
  type HoldingTerms,
  type HoldingVersion,
  holdingView,
  holdingViews,
  type InterfaceView,
} from './wire-views.ts';

/** A holding, and what its views are made of: a registry shows it so whenever it is read. */
export interface DrawnToken {
  readonly contract: Contract;
  readonly terms: HoldingTerms;
  readonly registry: Registry;
}

interface Registry {
  readonly admin: string;
  readonly packageName: string;
  readonly entities: readonly string[];
  readonly versions: readonly (readonly HoldingVersion[])[];
  readonly instruments: readonly string[];
}

const REGISTRIES: readonly Registry[] = [
  {
    admin: 'utility-registry::1220aa',
    packageName: 'utility-registry-holding-v0',
    entities: ['Utility.Registry.Holding.V0.Holding:Holding'],
    versions: [['V1']],
    instruments: ['USDCx', 'CBTC'],
  },
  {
    admin: 'odd: -_registry::x y',
    packageName: 'look-alike-amulet',
    // The name alone makes no coin.
    entities: [AMULET, 'Odd:Offer'],
    versions: [['V2']],
    instruments: ['  two  spaces ', 'ü 日本 \u{1f9ff}', ''],
  },
  {
    admin: 'dummy-registry::1220cc',
    packageName: 'dummy-holding',
    entities: ['Dummy.Holding:DummyHolding'],
    versions: [['V1', 'V2'], ['V2', 'V1'], ['V1'], ['V2']],
    instruments: ['Amulet', 'a|b:c\n"d"', 'USDCx'],
  },
];

const ACCOUNT_IDS = ['savings', 'ü 日本', ' ', '0'];
const PROVIDERS = ['provider::1220dd', 'odd: -_provider::x y'];
const LARGEST = 10n ** 38n - 1n;
const COIN = 10_000_000_000n;
const DAY: Micros = 86_400_000_000;

export function drawToken(draw: Draw, createdAt: Micros): DrawnToken {
  const { random, names } = draw;
  const registry = random.pick(REGISTRIES);
  const owner = random.chance(0.08) ? null : names.owner();
  const named = { admin: registry.admin, instrument: random.pick(registry.instruments) };
  const terms = { ...named, owner, ...drawAccount(draw), amount: drawAmount(draw), lock: null };
  return shown(draw, registry, random.chance(0.25) ? { ...terms, lock: drawLock(draw, createdAt) } : terms, createdAt);
}

export function drawAccount({ random }: Draw): Pick<HoldingTerms, 'provider' | 'accountId'> {
  return {
    provider: random.chance(0.25) ? random.pick(PROVIDERS) : null,
    accountId: random.chance(0.25) ? random.pick(ACCOUNT_IDS) : '',
  };
}

function drawAmount({ random, shares }: Draw): bigint {
  if (random.chance(shares.zeroRate)) return 0n;
  if (random.chance(shares.wideAmount)) return LARGEST;
  return random.chance(2 * shares.wideAmount)
    ? random.bigBelow(LARGEST)
    : random.bigBelow(10n ** BigInt(random.below(7)) * COIN) + 1n;
}

/** Expired at once, later, or never; by a time, a duration or both; and ends that no calendar has. */
export function drawLock({ random, names }: Draw, createdAt: Micros): HoldingLock {
  const time = shortTime(createdAt - DAY + random.below(30) * DAY);
  const duration = { microseconds: String(random.pick([0, 1, DAY, 300 * 366 * DAY, 9_223_372_036_854_775_807n])) };
  return {
    holders: [random.chance(0.5) ? names.dso : names.owner()],
    expiresAt: random.chance(0.6) ? random.pick([time, time, '9999-12-31T23:59:59.999999Z']) : null,
    expiresAfter: random.chance(0.4) ? duration : null,
    context: random.chance(0.5) ? 'an "offer"' : null,
  };
}

/** Another contract of a registry with these terms. */
export function shown(draw: Draw, registry: Registry, terms: HoldingTerms, createdAt: Micros): DrawnToken {
  const { random, names } = draw;
  const owners = [terms.owner ?? names.stranger, terms.admin];
  const contract = {
    contractId: names.contractId(),
    templateId: names.templateId(random.pick(registry.entities)),
    packageName: registry.packageName,
    createdAt,
    signatories: random.chance(0.5) ? owners : owners.toReversed(),
    observers: random.chance(0.2) ? [names.owner()] : [],
    payload: { kind: 'other', arguments: { holding: { issuer: terms.admin } } },
  } as const;
  const views = drawViews(draw, random.pick(registry.versions), terms);
  return { contract: { ...contract, views }, terms, registry };
}

/** Of both versions, of which one may have failed, disagree or come twice: the first of version 2 that did not fail counts. */
function drawViews(draw: Draw, versions: readonly HoldingVersion[], terms: HoldingTerms): readonly unknown[] {
  const { random, shares } = draw;
  const views: InterfaceView[] = holdingViews(versions, terms);
  const other = { ...terms, amount: terms.amount + 1n > LARGEST ? 0n : terms.amount + 1n };
  const without = views.map(({ viewStatus, ...view }) => ({ ...view, viewValue: withoutNone(view.viewValue) }));
  const odd: InterfaceView = { interfaceId: 'a:Other:View', implementationPackageId: 'b', viewValue: { amount: 7 } };
  if (!random.chance(4 * shares.unusual)) return views;
  if (versions.length === 1)
    return random.pick([without, [odd, ...views], [...views, ...holdingViews(versions, other)]]);
  const others = holdingViews(versions, other);
  const [v1, v2] = [views.find(isV1)!, views.find((view) => !isV1(view))!];
  return random.pick([without, [v1, failed(v2)], [others.find(isV1)!, v2], [failed(v1), v2], [...views, ...others]]);
}

/** Optionals that are none may be left out. */
function withoutNone(value: InterfaceView['viewValue']): InterfaceView['viewValue'] {
  return JSON.parse(JSON.stringify(value, (_, each: unknown) => (each === null ? undefined : each)));
}

const isV1 = ({ interfaceId }: InterfaceView): boolean => interfaceId.includes('HoldingV1');

function failed(view: InterfaceView): InterfaceView {
  const message = 'NO_VETTED_INTERFACE_IMPLEMENTATION_PACKAGE';
  return { ...view, viewStatus: { code: 9, message, details: [] }, viewValue: null };
}

/** A registry's admin did not sign it, or it names the coin, which is made of other templates. Its amount may make no sense. */
export function drawForgery(draw: Draw, createdAt: Micros): DrawnToken {
  const { random, names } = draw;
  const token = drawToken(draw, createdAt);
  const ofCoin = { ...token.terms, admin: names.dso, instrument: 'Amulet' };
  const unsigned = { ...token.contract, signatories: [names.stranger] };
  const signedCoin = shown(draw, token.registry, ofCoin, createdAt);
  const spoilt = holdingViews(['V1', 'V2'], token.terms).map((view) => spoil(view, { amount: 'much' }));
  return random.pick([
    { ...token, contract: unsigned },
    { ...token, contract: { ...unsigned, views: spoilt } },
    { ...token, contract: { ...unsigned, views: holdingViews(['V2'], ofCoin) } },
    signedCoin,
  ]);
}

function spoil(view: InterfaceView, changes: Readonly<Record<string, unknown>>): InterfaceView {
  return { ...view, viewValue: { ...view.viewValue, ...changes } };
}

/** A holding of which something that counts cannot be read. */
export function drawUnreadable(draw: Draw, createdAt: Micros): DrawnToken {
  const token = drawToken(draw, createdAt);
  return { ...token, contract: { ...token.contract, views: spoiltViews(draw, token.terms) } };
}

export function spoiltViews({ random }: Draw, terms: HoldingTerms): readonly unknown[] {
  const { admin, instrument } = terms;
  const instrumentId = (id: unknown): unknown => ({ admin, id });
  const [v1, v2] = [holdingView('V1', terms), holdingView('V2', terms)];
  const changes = [
    { amount: '-0.0000000001' },
    { amount: 7 },
    { amount: '1.00000000001' },
    { amount: plainDecimal(LARGEST + 1n) },
    { amount: undefined },
    { amount: null },
    { amount: '' },
    { instrumentId: null },
    { instrumentId: { admin: 'nobody', id: instrument } },
    ...['a\0b', '\ud800', 'x'.repeat(1025), 'ü'.repeat(513), 7, null].map((id) => ({ instrumentId: instrumentId(id) })),
    { lock: 'yes' },
    { lock: { holders: [], expiresAt: 'tomorrow', expiresAfter: null, context: null } },
    { lock: { holders: [], expiresAt: null, expiresAfter: { microseconds: 'many' }, context: null } },
  ];
  const account = { owner: terms.owner, provider: terms.provider, id: terms.accountId };
  return random.pick<readonly unknown[]>([
    [failed(v1), failed(v2)],
    [failed(v1)],
    [{ ...v2, viewValue: undefined }],
    [{ ...v1, viewValue: 'text' }],
    [spoil(v1, { owner: random.pick<unknown>(['nobody', '', null, 7, 'a::b::c']) })],
    [
      spoil(v2, {
        account: random.pick<unknown>([null, 'x', { ...account, owner: 'nobody' }, { ...account, provider: 7 }]),
      }),
    ],
    [spoil(v2, { account: { ...account, id: random.pick<unknown>([null, 'a\0', 'x'.repeat(1025)]) } })],
    [v1, spoil(v2, random.pick(changes))],
    [spoil(v1, random.pick(changes))],
    [spoil(v2, random.pick(changes))],
  ]);
}
