import { getOrMake } from '../get-or-make.ts';
import { formatAmount, parseAmount } from '../ledger/amount.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { COIN_INSTRUMENT, EVENT_LOG_PACKAGES } from '../ledger/templates.ts';
import type { EventLog, LedgerUpdate } from '../ledger/update.ts';
import { attempt, fault, readList, readObject, readParty, readText, type Wire } from './values.ts';

/** The choice by which a registry says what changed in an account: CIP-0112, `Splice.Api.Token.TransferEventsV2`. */
export const EVENT_LOG_CHOICE = 'EventLog_HoldingsChange';
const INTERFACE = ':Splice.Api.Token.TransferEventsV2:EventLog';
const REASON = 'splice.lfdecentralizedtrust.org/reason';
/** Of a leg's reason, which anybody may have written. */
const REASON_CHARS_MAX = 200;
/** Legs of an update, an event counting as one more: beyond it none of them is read. */
const LEGS_MAX = 1_000;

/** What an account's other side is called that is no party. */
const ENDS: ReadonlyMap<unknown, string> = new Map([
  ['cip-112/mint', 'minted'],
  ['cip-112/burn', 'burned'],
]);

/** Whether an exercise of that choice may be an EventLog event of Splice's. */
export function mayBeEventLog(packageName: unknown): boolean {
  return EVENT_LOG_PACKAGES.has(packageName as string);
}

export interface ReadEventLog {
  readonly kind: 'event log';
  readonly log: EventLog;
  /** Ids of the coins that it used, and of those that it made. */
  readonly holdings: readonly (readonly unknown[])[];
  readonly legs: number;
}

/** Reads an exercise of EVENT_LOG_CHOICE that does not consume, of either format; null for others. Never throws: no total depends on it. */
export function readEventLog(event: Wire): ReadEventLog | 'unreadable EventLog' | null {
  const { packageName = event.package_name } = event;
  const interfaceId = event.interfaceId ?? event.interface_id ?? INTERFACE;
  const isOne = typeof interfaceId === 'string' && interfaceId.endsWith(INTERFACE);
  if (!isOne || !mayBeEventLog(packageName)) return null;
  const { choiceArgument = event.choice_argument, actingParties = event.acting_parties } = event;
  const read = attempt(
    () => 'choice_argument',
    () => readChange(readObject(choiceArgument, ''), actingParties),
  );
  return read instanceof BadUpdate ? 'unreadable EventLog' : read;
}

function readChange(argument: Wire, actingParties: unknown): ReadEventLog {
  const admin = readParty(argument.admin, 'admin');
  const isActing = Array.isArray(actingParties) && actingParties.includes(admin);
  const account = readObject(argument.account, 'account');
  const owner = readParty(account.owner, 'account.owner');
  if ((account.provider ?? null) !== null || account.id !== '')
    fault('account', account, 'an account without provider and id, as those of the coin are');
  const reason = readReason(readObject(argument.extraArgs, 'extraArgs').meta);
  const legs: string[] = [];
  let net = 0n;
  for (const item of readList(argument.transferLegSides, 'transferLegSides')) {
    const leg = readObject(item, 'transferLegSides');
    if (readText(leg.instrumentId, 'instrumentId', 'an instrument id') !== COIN_INSTRUMENT) continue;
    const units = typeof leg.amount === 'string' ? parseAmount(leg.amount) : null;
    if (units === null || units < 0n) return fault('amount', leg.amount, 'a Decimal of 0 or more');
    const isSender = leg.side === 'SenderSide';
    if (!isSender && leg.side !== 'ReceiverSide') fault('side', leg.side, '"SenderSide" or "ReceiverSide"');
    net += isSender ? -units : units;
    const side = isSender ? 'sender' : 'receiver';
    const [counterparty, amount] = [readCounterparty(leg.otherside), formatAmount(units)];
    legs.push(JSON.stringify({ side, counterparty, amount, reason: readReason(leg.meta) ?? reason }));
  }
  const log = { admin: isActing ? admin : null, owner, net, legs: legs.join(',') };
  const holdings = ['inputHoldingCids', 'outputHoldingCids'].map((field) => readList(argument[field], field));
  return { kind: 'event log', log, holdings, legs: legs.length };
}

/** A party, or a word for what is none; null where it is neither: an account without an owner. */
function readCounterparty(otherside: unknown): string | null {
  const { owner = null, id } = readObject(otherside, 'otherside');
  return owner === null ? (ENDS.get(id) ?? null) : readParty(owner, 'otherside.owner');
}

function readReason(meta: unknown): string | null {
  const reason = readObject(readObject(meta, 'meta').values, 'meta.values')[REASON] ?? null;
  if (reason === null || typeof reason !== 'string') return reason === null ? null : fault(REASON, reason, 'text');
  // Not within a character of two code units.
  return reason.slice(0, REASON_CHARS_MAX).replace(/[\ud800-\udbff]$/, '');
}

/** The update with the EventLog events that were read in it. */
export function withEventLogs(update: LedgerUpdate, read: readonly ReadEventLog[]): LedgerUpdate {
  if (read.reduce((sum, { legs }) => sum + legs + 1, 0) > LEGS_MAX)
    return { ...update, ignored: [...update.ignored, ...read.map(() => 'unreadable EventLog' as const)] };
  const hidden = update.format === 'scan' ? new Set<string>() : hiddenAccounts(update, read);
  return { ...update, eventLogs: read.map(({ log }) => (hidden.has(accountOf(log)) ? { ...log, net: null } : log)) };
}

/**
 * The accounts of which a participant does not show all coins that their events name. What it shows of owners that it does not have is not
 * on its active set, so it is none of the update's events. Neither is a coin that passes through, but that is both made and used here.
 */
function hiddenAccounts({ events }: LedgerUpdate, read: readonly ReadEventLog[]): ReadonlySet<string> {
  const shown = new Set<unknown>(events.map(({ contractId }) => contractId));
  const changed = new Map<string, Set<unknown>>();
  for (const { log, holdings } of read) {
    const ids = getOrMake(changed, accountOf(log), () => new Set());
    for (const id of holdings.flat()) if (!ids.delete(id)) ids.add(id);
  }
  const hidden = [...changed].filter(([, ids]) => ids.values().some((id) => !shown.has(id)));
  return new Set(hidden.map(([account]) => account));
}

function accountOf({ admin, owner }: EventLog): string {
  return `${admin}\n${owner}`;
}
