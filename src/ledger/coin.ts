import { INT64_MAX, parseExactJson } from '../json/exact-number.ts';
import { isObject } from '../json/untrusted.ts';
import { formatAmount } from './amount.ts';
import { canonicalJson, comparableJson, trimTime } from './canonical-json.ts';
import { isPartyId } from './ledger-ids.ts';
import type { Coin } from './update.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The columns that, with the dso and `extra`, give a coin's whole payload and its stakeholders. */
export type CoinColumns = Pick<Coin, 'entity' | 'owner' | 'amount' | 'rate' | 'round' | 'extra'>;

/** A coin's content in the feed. Arguments are JSON values: Decimals with ten decimals, Ints as strings, unknown keys kept. */
export interface CoinContent {
  readonly createArguments: Fields;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

/**
 * `extra` has only what differs from the canonical coin: arguments without unknown keys, signatories [dso, owner], no
 * observers. In its lists of parties the two most frequent ones are written as these words, which are no party ids.
 */
interface Extra {
  /** All arguments, where they are unusual. */
  readonly arguments?: Fields;
  /** Otherwise the lock of a LockedAmulet: when it expires, its holders, and its context if it has one. */
  readonly lock?: readonly [expiresAt: string, holders: readonly string[], optContext?: string];
  readonly observers?: readonly string[];
  readonly signatories?: readonly string[];
}

const DSO_WORD = 'dso';
const OWNER_WORD = 'owner';
const CANONICAL_KEYS = { amulet: 3, amount: 3, createdAt: 1, ratePerRound: 1, lockedAmulet: 2 } as const;

type Terms = Omit<CoinColumns, 'extra'>;

/**
 * Coin.extra for a payload whose amulet part was already read: null for the canonical Amulet, else canonical JSON text, the
 * same for equal content of either wire format, except for numbers in another notation. `undefined` where the arguments
 * cannot be stored (see canonicalJson).
 */
export function coinExtra(
  coin: Terms & { readonly dso: string; readonly arguments: Fields } & Omit<CoinContent, 'createArguments'>,
): string | null | undefined {
  const parts: string[] = [];
  const argumentsPart = argumentsExtra(coin);
  if (argumentsPart === undefined) return undefined;
  if (argumentsPart !== '') parts.push(argumentsPart);
  if (coin.observers.length > 0) parts.push(`"observers":${partiesText(coin.observers, coin)}`);
  if (!isCanonicalSignatories(coin.signatories, coin)) {
    parts.push(`"signatories":${partiesText(coin.signatories, coin)}`);
  }
  return parts.length === 0 ? null : `{${parts.join(',')}}`;
}

function argumentsExtra(coin: Terms & { readonly dso: string; readonly arguments: Fields }): string | undefined {
  const amulet = coin.entity === 'Amulet' ? coin.arguments : (coin.arguments.amulet as Fields);
  const isUsual = isCanonicalAmulet(amulet);
  if (isUsual && coin.entity === 'Amulet') return '';
  if (isUsual && Object.keys(coin.arguments).length === CANONICAL_KEYS.lockedAmulet) {
    const lock = lockExtra(coin.arguments.lock, coin);
    if (lock !== null) return lock;
  }
  const text = canonicalJson(normalArguments(coin, amulet));
  return text === null ? undefined : `"arguments":${text}`;
}

function isCanonicalAmulet(amulet: Fields): boolean {
  const amount = amulet.amount as Fields;
  return (
    Object.keys(amulet).length === CANONICAL_KEYS.amulet &&
    Object.keys(amount).length === CANONICAL_KEYS.amount &&
    Object.keys(amount.createdAt as Fields).length === CANONICAL_KEYS.createdAt &&
    Object.keys(amount.ratePerRound as Fields).length === CANONICAL_KEYS.ratePerRound
  );
}

/** The lock in its short form, as text; null where it has anything besides holders, expiresAt and optContext. */
function lockExtra(lock: unknown, parties: Parties): string | null {
  if (!isObject(lock)) return null;
  const { holders, expiresAt, optContext = null, ...others } = lock;
  const time = typeof expiresAt === 'string' ? trimTime(expiresAt) : null;
  if (time === null || !isPartyList(holders) || Object.keys(others).length > 0) return null;
  const words = holders.map((party) => partyWord(party, parties));
  if (optContext !== null && typeof optContext !== 'string') return null;
  const short: Extra['lock'] = optContext === null ? [time, words] : [time, words, optContext];
  return `"lock":${canonicalJson(short)}`;
}

/** All arguments, with known Decimals, Ints and times normalized and everything else as it came. */
function normalArguments(coin: Terms & { readonly arguments: Fields }, amulet: Fields): Fields {
  const amount = amulet.amount as Fields;
  const normalAmulet = {
    ...amulet,
    amount: {
      ...amount,
      initialAmount: formatAmount(coin.amount),
      createdAt: { ...(amount.createdAt as Fields), number: coin.round.toString() },
      ratePerRound: { ...(amount.ratePerRound as Fields), rate: formatAmount(coin.rate) },
    },
  };
  if (coin.entity === 'Amulet') return normalAmulet;
  const { lock } = coin.arguments;
  const time = isObject(lock) && typeof lock.expiresAt === 'string' ? trimTime(lock.expiresAt) : null;
  if (!isObject(lock) || time === null) return { ...coin.arguments, amulet: normalAmulet };
  return { ...coin.arguments, amulet: normalAmulet, lock: { ...lock, expiresAt: time } };
}

/** Rebuilds the feed's arguments, signatories and observers from the columns, the dso and `extra`. */
export function coinContent(coin: CoinColumns, dso: string): CoinContent {
  const extra = coin.extra === null ? {} : parseExtra(coin.extra);
  const parties = { dso, owner: coin.owner };
  return {
    createArguments: extra.arguments ?? canonicalArguments(coin, parties, extra.lock),
    signatories: extra.signatories?.map((word) => partyOfWord(word, parties)) ?? canonicalSignatories(parties),
    observers: extra.observers?.map((word) => partyOfWord(word, parties)) ?? [],
  };
}

/** Only arguments contain numbers, and they come first. */
function parseExtra(extra: string): Extra {
  return (extra.startsWith('{"arguments"') ? parseExactJson(extra) : JSON.parse(extra)) as Extra;
}

/** 32 bits of what `extra` says: the same for equal content (docs/rules.md, rule 9) of either wire format. */
export function extraHash(coin: CoinColumns, dso: string): number {
  if (coin.extra === null) return 0;
  const stored = parseExtra(coin.extra);
  const { arguments: unusual, lock, observers = [], signatories } = stored.arguments ? usualExtra(coin, dso) : stored;
  const usual = coin.owner === dso ? [DSO_WORD] : [DSO_WORD, OWNER_WORD];
  const signed = signatories === undefined ? 0 : partiesHash(signatories) - partiesHash(usual);
  const terms = unusual === undefined ? lock && JSON.stringify(lock) : canonicalJson(unusual);
  return (signed + Math.imul(partiesHash(observers), 31) + textHash(terms ?? '')) | 0;
}

/** Its arguments as `comparableJson` writes them, which may be usual where those of the feed are not. */
function usualExtra(coin: CoinColumns, dso: string): Extra {
  const content = coinContent(coin, dso);
  const text = comparableJson(content.createArguments) ?? '{}';
  const extra = coinExtra({ ...coin, ...content, dso, arguments: parseExactJson(text) as Fields });
  return parseExtra(extra ?? '{}');
}

/** The same for parties in another order, or named twice. */
function partiesHash(words: readonly string[]): number {
  return [...new Set(words)].reduce((sum, word) => (sum + textHash(word)) | 0, 0);
}

function textHash(text: string): number {
  let hash = text.length;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
}

function canonicalArguments(coin: CoinColumns, parties: Parties, lock: Extra['lock']): Fields {
  const amulet = {
    dso: parties.dso,
    owner: parties.owner,
    amount: {
      initialAmount: formatAmount(coin.amount),
      createdAt: { number: coin.round.toString() },
      ratePerRound: { rate: formatAmount(coin.rate) },
    },
  };
  if (lock === undefined) return amulet;
  const [expiresAt, holders, optContext = null] = lock;
  return { amulet, lock: { holders: holders.map((word) => partyOfWord(word, parties)), expiresAt, optContext } };
}

/** What is compared of two creates, with the dso. */
export type ComparedCoin = CoinColumns & Pick<Coin, 'createdAt'>;

/** Whether two creates have equal content (docs/rules.md, rule 9): parties as sets, Decimals by value, no ids. */
export function sameCoin(a: ComparedCoin, b: ComparedCoin, dso: string): boolean {
  const sameColumns =
    a.entity === b.entity &&
    a.owner === b.owner &&
    a.amount === b.amount &&
    a.rate === b.rate &&
    a.round === b.round &&
    a.createdAt === b.createdAt;
  if (!sameColumns || a.extra === b.extra) return sameColumns;
  const [left, right] = [coinContent(a, dso), coinContent(b, dso)];
  return (
    sameParties(left.signatories, right.signatories) &&
    sameParties(left.observers, right.observers) &&
    comparableJson(left.createArguments) === comparableJson(right.createArguments)
  );
}

function sameParties(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((party) => right.has(party));
}

interface Parties {
  readonly dso: string;
  readonly owner: string;
}

/** The signatories of a coin: the dso and the owner, who may be one party. */
function canonicalSignatories({ dso, owner }: Parties): readonly string[] {
  return dso === owner ? [dso] : [dso, owner];
}

function isCanonicalSignatories(signatories: readonly string[], { dso, owner }: Parties): boolean {
  if (signatories[0] !== dso) return false;
  return dso === owner ? signatories.length === 1 : signatories.length === 2 && signatories[1] === owner;
}

function partiesText(list: readonly string[], parties: Parties): string {
  return JSON.stringify(list.map((party) => partyWord(party, parties)));
}

function partyWord(party: string, { dso, owner }: Parties): string {
  if (party === dso) return DSO_WORD;
  return party === owner ? OWNER_WORD : party;
}

function partyOfWord(word: string, { dso, owner }: Parties): string {
  if (word === DSO_WORD) return dso;
  return word === OWNER_WORD ? owner : word;
}

function isPartyList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((party) => typeof party === 'string' && isPartyId(party));
}

/** What a coin's holding fee depends on; `holdings/summary-answer.ts` sums the fees. Amount and rate in 1e-10 units, `round` is that of its creation. */
export interface FeeTerms {
  readonly amount: bigint;
  readonly rate: bigint;
  readonly createdRound: bigint;
}

/** `expiryRound` as it is stored and compared: a number where that is exact; Infinity for none. */
export function expiryOf(terms: FeeTerms): number | bigint {
  const expiry = expiryRound(terms) ?? Infinity;
  return expiry <= Number.MAX_SAFE_INTEGER ? Number(expiry) : expiry;
}

/** The smallest round R with (R - created) * rate >= amount; null when there is none, or none within int64. */
export function expiryRound({ amount, rate, createdRound }: FeeTerms): bigint | null {
  if (rate === 0n) return null;
  const expiry = createdRound + (amount + rate - 1n) / rate;
  return expiry > INT64_MAX ? null : expiry;
}
