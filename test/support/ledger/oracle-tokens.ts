import type { Contract, Micros } from './history.ts';
import { isOurs } from './history.ts';

/** A holding of the token standard that counts. */
export interface TokenHolding {
  readonly contract: Contract;
  readonly admin: string;
  readonly instrument: string;
  readonly owner: string | null;
  readonly provider: string | null;
  readonly accountId: string;
  /** 1e-10 units */
  readonly amount: bigint;
  readonly locked: boolean;
  /** Microseconds since 1970, which a lock may be far from; null for a lock without end and where there is none. */
  readonly expiresAt: bigint | null;
}

/** What the views of a contract say: a holding, why they cannot be read, or null where it is no holding. */
type Judged = { readonly holding: TokenHolding } | { readonly unreadable: string; readonly names: Instrument | null };

interface Instrument {
  readonly admin: string;
  readonly instrument: string;
}

/** Of one migration. */
export interface TokenEra {
  readonly tokens: Map<string, TokenHolding>;
  readonly unreadable: Map<string, Contract>;
  /** Counterfeits, and holdings of owners that are not followed. */
  readonly uncounted: Set<string>;
}

export interface TokenCounts {
  counterfeits: number;
  again: number;
  notFollowed: number;
  viewDiffers: number;
}

export interface TokenRules {
  readonly dso: string | null;
  /** Null: everybody. */
  readonly followed: ReadonlySet<string> | null;
}

export const newTokenEra = (): TokenEra => ({ tokens: new Map(), unreadable: new Map(), uncounted: new Set() });

/** Whether the id is active as a token, an unreadable holding, or one that does not count. */
export function isActiveToken({ tokens, unreadable, uncounted }: TokenEra, contractId: string): boolean {
  return tokens.has(contractId) || unreadable.has(contractId) || uncounted.has(contractId);
}

/** A contract whose views name a holding, though no coin or round. */
export function isToken(contract: Contract): boolean {
  return !isOurs(contract) && viewsOf(contract).length > 0;
}

/** What is not held is not an error: it is of a template of which nothing is known. */
export function archiveToken({ tokens, unreadable, uncounted }: TokenEra, contractId: string): void {
  tokens.delete(contractId);
  unreadable.delete(contractId);
  uncounted.delete(contractId);
}

export function createToken(era: TokenEra, contract: Contract, counts: TokenCounts, rules: TokenRules): void {
  const judged = judge(contract);
  if (judged === null) return;
  const { contractId, signatories } = contract;
  const named = 'holding' in judged ? judged.holding : judged.names;
  const isOfDso = named !== null && named.admin === rules.dso && named.instrument === 'Amulet';
  const isCounterfeit = named !== null && (!signatories.includes(named.admin) || isOfDso);
  const becomesReadable = era.unreadable.has(contractId) && 'holding' in judged && !isCounterfeit;
  if (isActiveToken(era, contractId) && !becomesReadable) {
    counts.again++;
    return;
  }
  era.unreadable.delete(contractId);
  if (isCounterfeit) {
    counts.counterfeits++;
    era.uncounted.add(contractId);
  } else if ('unreadable' in judged) era.unreadable.set(contractId, contract);
  else if (judged.holding.owner !== null && rules.followed?.has(judged.holding.owner) === false) {
    counts.notFollowed++;
    era.uncounted.add(contractId);
  } else era.tokens.set(contractId, judged.holding);
}

/** Whether the view of a coin has another owner or amount than its arguments. */
export function coinDiffers(contract: Contract): boolean {
  const judged = judge(contract);
  if (judged === null || !('holding' in judged) || contract.payload.kind !== 'coin') return false;
  const { owner, amount } = contract.payload;
  return judged.holding.owner !== owner || judged.holding.amount !== amount;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first view of each version, version 2 first. */
function viewsOf({ views = [] }: Contract): Fields[] {
  return ['V2', 'V1'].flatMap((version) => {
    const entity = `Splice.Api.Token.Holding${version}:Holding`;
    const found = views.find((view) => isFields(view) && String(view.interfaceId).replace(/^[^:]*:/, '') === entity);
    return found === undefined ? [] : [found as Fields];
  });
}

const LIMIT = 10n ** 38n;

/** Thrown with what cannot be read. */
class Unreadable extends Error {}

export function judge(contract: Contract): Judged | null {
  const views = viewsOf(contract);
  if (views.length === 0) return null;
  const view = views.find(({ viewStatus, viewValue }) => {
    const code = isFields(viewStatus) ? viewStatus.code : viewStatus;
    return (isNone(code) || code === 0) && !isNone(viewValue);
  });
  if (view === undefined) return { unreadable: 'the view failed', names: null };
  let names: Instrument | null = null;
  try {
    const value = fields(view.viewValue);
    const instrumentId = fields(value.instrumentId);
    names = { admin: party(instrumentId.admin), instrument: text(instrumentId.id) };
    const account = String(view.interfaceId).endsWith('V2:Holding') ? accountV2(value) : accountV1(value);
    const lock = isNone(value.lock) ? null : fields(value.lock);
    const expiresAt = lock && lockEnd(lock, contract.createdAt);
    const terms = { ...names, ...account, amount: decimal(value.amount), locked: lock !== null, expiresAt };
    return { holding: { contract, ...terms } };
  } catch (error) {
    if (error instanceof Unreadable) return { unreadable: error.message, names };
    throw error;
  }
}

type Account = Pick<TokenHolding, 'owner' | 'provider' | 'accountId'>;

function accountV2(value: Fields): Account {
  const account = fields(value.account);
  const [owner, provider] = [account.owner, account.provider].map((each) => (isNone(each) ? null : party(each)));
  return { owner: owner!, provider: provider!, accountId: text(account.id) };
}

function accountV1(value: Fields): Account {
  const owner = party(value.owner);
  const values = isFields(value.meta) && isFields(value.meta.values) ? value.meta.values : {};
  const [provider, id] = ['provider', 'id'].map((name) => values[`cip-112/account.${name}`]);
  return {
    owner: owner.startsWith('cip-112_no-owner::') ? null : owner,
    provider: typeof provider === 'string' ? party(provider) : null,
    accountId: typeof id === 'string' ? text(id) : '',
  };
}

/** An optional that is none may be left out. */
const isNone = (value: unknown): boolean => value === null || value === undefined;

function fields(value: unknown): Fields {
  if (!isFields(value)) throw new Unreadable('no record');
  return value;
}

function party(value: unknown): string {
  const parts = typeof value === 'string' ? value.split('::') : [];
  const [name = '', fingerprint = ''] = parts;
  const isParty = parts.length === 2 && name.length > 0 && name.length <= 185 && /^[\w: -]+$/.test(value as string);
  if (!isParty || fingerprint.length === 0 || fingerprint.length > 68) throw new Unreadable('no party');
  return value as string;
}

function text(value: unknown): string {
  if (typeof value !== 'string' || value.includes('\0') || !value.isWellFormed()) throw new Unreadable('no text');
  if (Buffer.from(value).length > 1024) throw new Unreadable('a text of more than 1,024 bytes');
  return value;
}

function decimal(value: unknown): bigint {
  if (typeof value !== 'string') throw new Unreadable('an amount that is no text');
  const parts = /^(-?)(\d{1,60})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(value);
  if (parts === null) throw new Unreadable('no Decimal');
  const [, sign, whole = '', fraction = '', exponent] = parts;
  // Without an exponent ten digits are all that may follow the point.
  if (exponent === undefined && fraction.length > 10) throw new Unreadable('too exact');
  const power = 10 - fraction.length + Number(exponent ?? 0);
  const [digits, divisor] = [BigInt(whole + fraction), 10n ** BigInt(Math.max(0, -power))];
  if (digits % divisor !== 0n) throw new Unreadable('too exact');
  const units = (digits / divisor) * 10n ** BigInt(Math.max(0, power));
  if (units >= LIMIT || (sign === '-' && units > 0n)) throw new Unreadable('too large, or negative');
  return units;
}

const [YEAR_1, YEAR_10000] = [-62_135_596_800_000_000n, 253_402_300_800_000_000n];

/** The earlier of both ends. */
function lockEnd({ expiresAt, expiresAfter }: Fields, createdAt: Micros): bigint | null {
  const ends = [
    ...(isNone(expiresAt) ? [] : [time(expiresAt)]),
    ...(isNone(expiresAfter) ? [] : [BigInt(createdAt) + microseconds(fields(expiresAfter).microseconds)]),
  ].filter((end) => end >= YEAR_1 && end < YEAR_10000);
  return ends.length === 0 ? null : ends.reduce((a, b) => (a < b ? a : b));
}

function microseconds(value: unknown): bigint {
  if (typeof value !== 'string' || !/^-?\d{1,19}$/.test(value)) throw new Unreadable('no duration');
  return BigInt(value);
}

function time(value: unknown): bigint {
  const [, seconds, fraction = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/.exec(String(value)) ?? [];
  const millis = Date.parse(`${seconds}Z`);
  const isOnCalendar = !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(seconds ?? '-');
  if (!isOnCalendar) throw new Unreadable('no time');
  return BigInt(millis) * 1000n + BigInt(fraction.padEnd(6, '0'));
}
