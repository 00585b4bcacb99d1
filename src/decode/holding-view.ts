import { parseAmount } from '../ledger/amount.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { HOLDING_ID_EXPECTED, isHoldingId } from '../ledger/ledger-ids.ts';
import { type Micros, parseRequestTime } from '../ledger/time.ts';
import type { Coin, HoldingView, Unreadable } from '../ledger/update.ts';
import { attempt, fault, isWire, readObject, readParty, type Wire } from './values.ts';

type Account = Pick<HoldingView, 'owner' | 'provider' | 'accountId'>;

/** A version of the interface Holding. The id of its package varies, and what its template's admin did not sign does not count. */
interface Version {
  readonly name: string;
  readonly interfaceId: string;
  readAccount(value: Wire): Account;
}

/** The first that did not fail counts, even where both disagree. */
const VERSIONS: readonly Version[] = [
  { name: 'HoldingV2', interfaceId: ':Splice.Api.Token.HoldingV2:Holding', readAccount: readAccountV2 },
  { name: 'HoldingV1', interfaceId: ':Splice.Api.Token.HoldingV1:Holding', readAccount: readAccountV1 },
];
/** The hint of the party that version 1 names where version 2 has no owner. */
const NO_OWNER = 'cip-112_no-owner::';
const [PROVIDER, ACCOUNT_ID] = ['cip-112/account.provider', 'cip-112/account.id'];

const AMOUNT_EXPECTED = 'a Decimal of 0 or more with at most 28 integer and 10 fraction digits, as a string';
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z$/;
const TIME_EXPECTED = 'a UTC time such as "2025-02-14T15:00:00.123456Z"';
const DURATION_EXPECTED = 'a whole number of microseconds';
/** Ends of locks outside the years 1 to 9999 are none. */
const [EARLIEST, LATEST] = [
  parseRequestTime('0001-01-01T00:00:00Z')!,
  parseRequestTime('9999-12-31T23:59:59.999999Z')!,
];

/** What views say of a holding; null where none is a Holding view. Throws nothing, because anyone can show a party anything (docs/rules.md, rule 16). */
export function readHoldingView(views: unknown, createdAt: Micros): HoldingView | Unreadable | null {
  if (!Array.isArray(views)) return null;
  let failed: Unreadable | null = null;
  for (const version of VERSIONS) {
    const view: unknown = views.find((each) => isOf(each, version));
    if (view === undefined) continue;
    const { viewStatus, viewValue } = view as Wire;
    const code = isWire(viewStatus) ? viewStatus.code : viewStatus;
    const hasFailed = (code ?? 0) !== 0 || (viewValue ?? null) === null;
    if (!hasFailed) return readView(viewValue, version, createdAt);
    failed ??= unreadable(version, () => fault('viewStatus', viewStatus, 'code 0, and a viewValue'));
  }
  return failed;
}

/** Whether any of the views of a created event is a Holding view. */
export function isHolding(views: unknown): boolean {
  return Array.isArray(views) && VERSIONS.some((version) => views.some((view) => isOf(view, version)));
}

/** Whether the views of a coin name another owner or amount than its arguments. */
export function viewDiffers(
  views: unknown,
  { owner, amount, createdAt }: Pick<Coin, 'owner' | 'amount' | 'createdAt'>,
): boolean {
  const view = readHoldingView(views, createdAt);
  return view !== null && 'amount' in view && (view.owner !== owner || view.amount !== amount);
}

function isOf(view: unknown, { interfaceId }: Version): boolean {
  return isWire(view) && typeof view.interfaceId === 'string' && view.interfaceId.endsWith(interfaceId);
}

function readView(given: unknown, version: Version, createdAt: Micros): HoldingView | Unreadable {
  const named: { admin?: string; instrument?: string } = {};
  const read = attempt(
    () => version.name,
    () => {
      const value = readObject(given, 'viewValue');
      const instrumentId = readObject(value.instrumentId, 'instrumentId');
      const admin = readParty(instrumentId.admin, 'instrumentId.admin');
      const instrument = readId(instrumentId.id, 'instrumentId.id');
      Object.assign(named, { admin, instrument });
      const amount = typeof value.amount === 'string' ? parseAmount(value.amount) : null;
      if (amount === null || amount < 0n) return fault('amount', value.amount, AMOUNT_EXPECTED);
      const isLocked = (value.lock ?? null) !== null;
      const lockExpiresAt = isLocked ? readLockEnd(readObject(value.lock, 'lock'), createdAt) : null;
      return { admin, instrument, ...version.readAccount(value), amount, locked: isLocked, lockExpiresAt };
    },
  );
  return read instanceof BadUpdate ? { reason: reasonOf(read), ...named } : read;
}

function unreadable({ name }: Version, read: () => never): Unreadable {
  return { reason: reasonOf(attempt(() => name, read)) };
}

/** What is shown of a given value may be cut within a character. */
function reasonOf({ message }: BadUpdate): string {
  return message.toWellFormed();
}

function readAccountV2(value: Wire): Account {
  const account = readObject(value.account, 'account');
  return {
    owner: readOptionalParty(account.owner, 'account.owner'),
    provider: readOptionalParty(account.provider, 'account.provider'),
    accountId: readId(account.id, 'account.id'),
  };
}

function readAccountV1({ owner: given, meta }: Wire): Account {
  const owner = readParty(given, 'owner');
  const values = isWire(meta) && isWire(meta.values) ? meta.values : {};
  const textOf = (key: string): string | null => (typeof values[key] === 'string' ? values[key] : null);
  return {
    owner: owner.startsWith(NO_OWNER) ? null : owner,
    provider: readOptionalParty(textOf(PROVIDER), `meta.values["${PROVIDER}"]`),
    accountId: readId(textOf(ACCOUNT_ID) ?? '', `meta.values["${ACCOUNT_ID}"]`),
  };
}

function readOptionalParty(value: unknown, field: string): string | null {
  return (value ?? null) === null ? null : readParty(value, field);
}

function readId(value: unknown, field: string): string {
  return typeof value === 'string' && isHoldingId(value) ? value : fault(field, value, HOLDING_ID_EXPECTED);
}

/** The earlier of a time and a duration after the create; null for a lock without end. */
function readLockEnd({ expiresAt, expiresAfter }: Wire, createdAt: Micros): bigint | null {
  const ends: bigint[] = [];
  if ((expiresAt ?? null) !== null) ends.push(readLockTime(expiresAt));
  if ((expiresAfter ?? null) !== null) {
    const { microseconds } = readObject(expiresAfter, 'lock.expiresAfter');
    const isWhole = typeof microseconds === 'string' && /^-?\d{1,19}$/.test(microseconds);
    if (!isWhole) return fault('lock.expiresAfter.microseconds', microseconds, DURATION_EXPECTED);
    ends.push(BigInt(createdAt) + BigInt(microseconds));
  }
  const [first = null] = ends.filter((end) => end >= EARLIEST && end <= LATEST).sort((a, b) => (a < b ? -1 : 1));
  return first;
}

function readLockTime(value: unknown): bigint {
  if (typeof value !== 'string' || !TIME.test(value)) return fault('lock.expiresAt', value, TIME_EXPECTED);
  const isBeforeAll = value.startsWith('0000-');
  return isBeforeAll ? EARLIEST - 1n : (parseRequestTime(value) ?? fault('lock.expiresAt', value, TIME_EXPECTED));
}
