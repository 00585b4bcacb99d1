import { hash } from 'node:crypto';
import { NUMBER_CHARS_MAX } from '../json/exact-number.ts';
import { parseAmount } from '../ledger/amount.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { comparableJson, NESTING_MAX } from '../ledger/canonical-json.ts';
import { coinExtra } from '../ledger/coin.ts';
import { type CoinEntity, ENTITIES, type Entity, PACKAGE_NAME } from '../ledger/templates.ts';
import type {
  Coin,
  CoinCreate,
  HoldingCreate,
  IgnoredEvent,
  LedgerEvent,
  OpenRound,
  OtherContract,
  RoundCreate,
} from '../ledger/update.ts';
import type { ReadEventLog } from './event-log.ts';
import { isHolding, readHoldingView, viewDiffers } from './holding-view.ts';
import {
  attempt,
  fault,
  isWire,
  readContractId,
  readObject,
  readParties,
  readParty,
  readRoundNumber,
  readText,
  readTime,
  type Wire,
} from './values.ts';

/** A wire format's names for the fields of a created event, and how it writes the node number. */
export interface CreateFields extends TemplateFields {
  readonly contractId: string;
  readonly arguments: string;
  readonly createdAt: string;
  readonly signatories: string;
  readonly observers: string;
  readonly node: string;
  readonly views: string;
  readNode(value: unknown, field: string): number;
}

const DSO_EXPECTED = 'the party id of the DSO';
const DECIMAL_EXPECTED = 'a Decimal of at most 28 integer and 10 fraction digits, as a string';
const KEEPABLE_EXPECTED = `JSON nested at most ${NESTING_MAX} deep, with numbers of at most ${NUMBER_CHARS_MAX} characters`;

/**
 * Reads a created event. Contract id, template, package name and dso are validated here (Fault); faults of all other fields
 * are kept in `signatories` and `body`, because they do not matter in a contract of another dso (docs/rules.md, rule 10).
 */
export function readCreate(
  event: Wire,
  fields: CreateFields,
  path: () => string,
): CoinCreate | RoundCreate | HoldingCreate | IgnoredEvent {
  const entity = readEntity(event, fields);
  if (isOther(entity)) return readHolding(event, fields, entity) ?? entity;
  const contractId = readContractId(event[fields.contractId], fields.contractId);
  const payload = readPayload(event[fields.arguments], fields.arguments);
  const isLocked = entity === 'LockedAmulet';
  const innerField = isLocked ? `${fields.arguments}.amulet` : fields.arguments;
  const inner = isLocked ? readObject(payload.amulet, innerField) : payload;
  const dso = typeof inner.dso === 'string' ? inner.dso : fault(`${innerField}.dso`, inner.dso, DSO_EXPECTED);
  const signatories = attempt(path, () => readParties(event[fields.signatories], fields.signatories));
  if (signatories instanceof BadUpdate) return { kind: entity, contractId, dso, signatories, body: signatories };
  if (entity === 'OpenMiningRound') {
    const body = attempt(path, () => readRound(event, { payload, signatories, fields }));
    return { kind: entity, contractId, dso, signatories, body };
  }
  const parts = { entity, dso, payload, amulet: inner, amuletField: innerField, signatories, fields };
  const body = attempt(path, () => readCoin(event, parts));
  return { kind: entity, contractId, dso, signatories, body };
}

/** Protobuf JSON gives fields by position, without names, so they cannot be read. */
function readPayload(value: unknown, field: string): Wire {
  const payload = readObject(value, field);
  if (payload.dso !== undefined || payload.amulet !== undefined || !isWire(payload.record)) return payload;
  return fault(field, value, 'named fields (compact JSON); this looks like protobuf JSON');
}

interface CoinParts {
  readonly entity: CoinEntity;
  readonly dso: string;
  readonly payload: Wire;
  readonly amulet: Wire;
  readonly amuletField: string;
  readonly signatories: readonly string[];
  readonly fields: CreateFields;
}

function readCoin(event: Wire, parts: CoinParts): Coin {
  const { entity, dso, payload, amulet, amuletField, signatories, fields } = parts;
  const owner = readParty(amulet.owner, `${amuletField}.owner`);
  const terms = readAmount(amulet.amount, `${amuletField}.amount`);
  const createdAt = readTime(event[fields.createdAt], fields.createdAt);
  const observers = readParties(event[fields.observers], fields.observers);
  const node = fields.readNode(event[fields.node], fields.node);
  const templateId = readText(event[fields.templateId], fields.templateId, 'well-formed text');
  const packageName = packageOf(event[fields.packageName], templateId, fields);
  const { amount, rate, round } = terms;
  const extra = coinExtra({ entity, dso, owner, amount, rate, round, arguments: payload, signatories, observers });
  if (extra === undefined) return fault(fields.arguments, payload, KEEPABLE_EXPECTED);
  const coin = { entity, owner, amount, rate, round, createdAt, node, templateId, packageName, extra };
  return viewDiffers(event[fields.views], coin) ? { ...coin, viewDiffers: true } : coin;
}

/** Null for what shows no Holding view. Throws Fault for what is wrong beside its views. */
function readHolding(event: Wire, fields: CreateFields, ignoredAs: OtherContract): HoldingCreate | null {
  const { [fields.views]: views, [fields.packageName]: packageName } = event;
  if (!isHolding(views)) return null;
  const templateId = readText(event[fields.templateId], fields.templateId, 'well-formed text');
  const createdAt = readTime(event[fields.createdAt], fields.createdAt);
  return {
    kind: 'holding',
    contractId: readContractId(event[fields.contractId], fields.contractId),
    templateId,
    packageName: typeof packageName === 'string' ? packageName : (/^#([^:]+):/.exec(templateId)?.[1] ?? ''),
    ignoredAs,
    signatories: readParties(event[fields.signatories], fields.signatories),
    observers: readParties(event[fields.observers], fields.observers),
    node: fields.readNode(event[fields.node], fields.node),
    createdAt,
    view: readHoldingView(views, createdAt)!,
  };
}

function readAmount(value: unknown, field: string): Pick<Coin, 'amount' | 'rate' | 'round'> {
  const wire = readObject(value, field);
  const amount = readDecimal(wire.initialAmount, `${field}.initialAmount`);
  if (amount <= 0n) fault(`${field}.initialAmount`, wire.initialAmount, 'a Decimal above 0');
  const createdAt = readObject(wire.createdAt, `${field}.createdAt`);
  const round = readRoundNumber(createdAt.number, `${field}.createdAt.number`);
  const ratePerRound = readObject(wire.ratePerRound, `${field}.ratePerRound`);
  const rate = readDecimal(ratePerRound.rate, `${field}.ratePerRound.rate`);
  if (rate < 0n) fault(`${field}.ratePerRound.rate`, ratePerRound.rate, 'a Decimal of 0 or more');
  return { amount, rate, round };
}

function readDecimal(value: unknown, field: string): bigint {
  const units = typeof value === 'string' ? parseAmount(value) : null;
  return units ?? fault(field, value, DECIMAL_EXPECTED);
}

function readRound(
  event: Wire,
  { payload, signatories, fields }: Pick<CoinParts, 'payload' | 'signatories' | 'fields'>,
): OpenRound {
  const number = readObject(payload.round, `${fields.arguments}.round`).number;
  const round = readRoundNumber(number, `${fields.arguments}.round.number`);
  // A round uses neither, so neither is validated; they only show whether two creates are equal.
  const { [fields.createdAt]: time, [fields.observers]: given } = event;
  const createdAt = typeof time === 'string' ? time : null;
  const observers = Array.isArray(given) ? given.filter((party) => typeof party === 'string') : [];
  const content = comparableJson([payload, createdAt, partySet(signatories), partySet(observers)]);
  if (content === null) return fault(fields.arguments, payload, KEEPABLE_EXPECTED);
  return { round, content: hash('sha256', content) };
}

function partySet(parties: readonly string[]): readonly string[] {
  return [...new Set(parties)].sort();
}

const TEMPLATE_EXPECTED =
  'a template id, <package id>:<Module>:<Entity> or #<package name>:<Module>:<Entity>, without control characters';
/** Those of Unicode's category Cc: U+0000 to U+001F and U+007F to U+009F. The separator in our own keys is one of them. */
const CONTROL_CHARACTER = /\p{Cc}/u;

/** A wire format's names for the two fields that name a template. */
interface TemplateFields {
  readonly templateId: string;
  readonly packageName: string;
}

/**
 * Template ids that were validated before: a feed has few different ones, and a look-up costs less than validating again.
 * Bounded, because a feed may have any; ids longer than a ledger's (64 characters for the package) are not kept.
 */
const known = new Map<string, Entity | 'other template'>();
const KNOWN_MAX = 256;
const KNOWN_CHARS_MAX = 512;

/** What a template id names, whatever the package; null for what is none. */
function entityOf(templateId: unknown): Entity | 'other template' | null {
  if (typeof templateId !== 'string') return null;
  const found = known.get(templateId);
  if (found !== undefined) return found;
  const entity = parseEntity(templateId);
  if (entity === null || templateId.length > KNOWN_CHARS_MAX) return entity;
  if (known.size === KNOWN_MAX) known.clear();
  known.set(templateId, entity);
  return entity;
}

function parseEntity(templateId: string): Entity | 'other template' | null {
  const [packagePart, ...rest] = templateId.split(':');
  if (rest.length !== 2 || packagePart === '' || rest.includes('') || CONTROL_CHARACTER.test(templateId)) return null;
  return ENTITIES.get(rest.join(':')) ?? 'other template';
}

/** Whether an event with this template id may be ours, so that more of it must be read. */
export function mayBeOurs(templateId: unknown): boolean {
  return entityOf(templateId) !== 'other template';
}

/**
 * Which entity of ours an event concerns, or why none. The package name decides; only where it is missing, the
 * `#<package name>:` of the template id does, because that prefix is not always the true name. A malformed id is bad,
 * because nothing shows which template it means.
 */
export function readEntity(event: Wire, fields: TemplateFields): Entity | OtherContract {
  const templateId = event[fields.templateId];
  const entity = entityOf(templateId) ?? fault(fields.templateId, templateId, TEMPLATE_EXPECTED);
  if (entity === 'other template') return entity;
  return packageOf(event[fields.packageName], templateId as string, fields) === PACKAGE_NAME ? entity : 'other package';
}

export function isOther(entity: Entity | OtherContract): entity is OtherContract {
  return entity === 'other template' || entity === 'other package';
}

/** The package name that counts for a template of ours; BadUpdate where the event has none. */
function packageOf(packageName: unknown, templateId: string, fields: TemplateFields): string {
  if (typeof packageName === 'string' && packageName !== '') return packageName;
  const packageEnd = templateId.indexOf(':');
  if ((packageName === undefined || packageName === null) && packageEnd > 1 && templateId.startsWith('#')) {
    return templateId.slice(1, packageEnd);
  }
  return fault(fields.packageName, packageName, 'a package name');
}

/** What was read of an update's events. */
export interface Collected {
  readonly events: LedgerEvent[];
  readonly ignored: IgnoredEvent[];
  /** Made with the first one: few updates have any. */
  eventLogs?: ReadEventLog[];
}

export type ReadEvent = LedgerEvent | IgnoredEvent | ReadEventLog;

export function collect(read: Collected, event: ReadEvent): void {
  if (typeof event === 'string') read.ignored.push(event);
  else if (event.kind !== 'event log') read.events.push(event);
  else {
    read.eventLogs ??= [];
    read.eventLogs.push(event);
  }
}
