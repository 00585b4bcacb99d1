import { hash } from 'node:crypto';
import { formatAmount, UNITS_PER_COIN } from '../ledger/amount.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { comparableJson } from '../ledger/canonical-json.ts';
import { coinContent, expiryRound } from '../ledger/coin.ts';
import { checkClock, type Micros } from '../ledger/time.ts';
import {
  type Archive,
  type Coin,
  type CoinCreate,
  type Decoded,
  fieldNameIn,
  type LedgerUpdate,
  type RoundCreate,
} from '../ledger/update.ts';
import {
  type CoinCreated,
  type ContractArchived,
  type EventTime,
  eventTime,
  type FlatEvent,
  type RoundOpened,
} from './flat-event.ts';

export interface FlattenRules {
  /** The DSO whose coins count: a decoder without state cannot take the first one seen. */
  readonly dso: string;
  readonly periodUs: number;
  readonly recordTimeAheadMaxUs: number;
  /** Our clock. */
  readonly now: Micros;
}

/** With these, sums over fewer than 1e9 coins fit the 28 + 10 digits of a stream engine's widest decimal. */
const AMOUNT_LIMIT = 10n ** 18n * UNITS_PER_COIN;
const RATE_LIMIT = 10n ** 9n * UNITS_PER_COIN;
const ROUND_LIMIT = 10n ** 10n;

/** The events of a message, in order; none where it moves no time. Pure. Throws BadUpdate, for what flat events cannot say too. */
export function flatten(decoded: Decoded, rules: FlattenRules): readonly FlatEvent[] {
  switch (decoded.kind) {
    case 'ignored':
      return [];
    case 'checkpoint': {
      const { migrationId, times } = decoded;
      if (times.length === 0) return [];
      for (const { recordTime } of times) requireClock(recordTime, rules, 'synchronizerTimes[].recordTime');
      const least = times.reduce((time, { recordTime }) => Math.min(time, recordTime), Infinity);
      return [{ k: 'T', ...eventTime(migrationId, least, rules.periodUs) }];
    }
    case 'import marker': {
      const { migrationId, recordTime } = decoded;
      requireClock(recordTime, rules, 'seed.record_time');
      return [{ k: 'M', ...eventTime(migrationId, recordTime, rules.periodUs), seeded: recordTime }];
    }
    case 'update':
      return eventsOf(decoded, rules);
  }
}

function eventsOf(update: LedgerUpdate, rules: FlattenRules): readonly FlatEvent[] {
  const { migrationId, recordTime, updateId, seed, format } = update;
  if (recordTime !== null) requireClock(recordTime, rules, fieldNameIn(format, 'record_time'));
  const time = eventTime(migrationId, recordTime, rules.periodUs);
  const upd = recordTime === null ? (seed?.createdIn ?? null) : updateId;
  const ofImport = seed === undefined ? {} : { seeded: 0 };
  const events = update.events.flatMap((event): FlatEvent | [] => {
    // A store in PostgreSQL holds coins only.
    if ('ignoredAs' in event) return [];
    if (event.kind === 'archive') return archived(event, time);
    if (isCounterfeit(event, rules.dso)) return { k: 'G', ...time, cid: event.contractId, fp: COUNTERFEIT_FINGERPRINT };
    return { ...(event.kind === 'OpenMiningRound' ? opened(event, time) : created(event, time, upd)), ...ofImport };
  });
  return events.length === 0 && recordTime !== null ? [{ k: 'M', ...time }] : events;
}

function requireClock(time: Micros, { now, recordTimeAheadMaxUs }: FlattenRules, field: string): void {
  // A long gap floods nobody here: snapshots without changes are not rows.
  checkClock(time, { now, recordTimeAheadMaxUs, recordTimeGapMaxUs: Infinity }, { timeReached: null, field });
}

/** Whether a create does not count (docs/rules.md, rule 10). Throws what is wrong with the signatories of one of our DSO. */
function isCounterfeit({ dso, signatories }: CoinCreate | RoundCreate, ours: string): boolean {
  if (dso !== ours) return true;
  if (signatories instanceof BadUpdate) throw signatories;
  return !signatories.includes(ours);
}

function created({ contractId, dso, body }: CoinCreate, time: EventTime, upd: string | null): CoinCreated {
  if (body instanceof BadUpdate) throw body;
  const { entity, owner, amount, rate, round, createdAt, node, templateId, extra } = body;
  if (amount >= AMOUNT_LIMIT) throw outOfBounds(`initialAmount of ${contractId}`, formatAmount(amount), '1e18');
  if (rate >= RATE_LIMIT) throw outOfBounds(`ratePerRound of ${contractId}`, formatAmount(rate), '1e9');
  requireRound(round, contractId);
  const expires = expiryRound({ amount, rate, createdRound: round });
  return {
    k: 'C',
    ...time,
    cid: contractId,
    owner,
    locked: entity === 'LockedAmulet' ? 1 : 0,
    amt: formatAmount(amount),
    rate: formatAmount(rate),
    round: Number(round),
    rr: formatAmount(rate * round),
    expires: expires === null ? null : String(expires),
    fp: fingerprint(body, dso),
    at: createdAt,
    upd,
    node,
    tpl: templateId,
    extra,
  };
}

function requireRound(round: bigint, contractId: string): void {
  if (round >= ROUND_LIMIT) throw outOfBounds(`round of ${contractId}`, String(round), '1e10');
}

function outOfBounds(field: string, given: string, below: string): BadUpdate {
  return new BadUpdate('bad_field', field, given, `below ${below}: sums of larger ones do not fit a stream engine`);
}

function opened({ contractId, body }: RoundCreate, time: EventTime): RoundOpened {
  if (body instanceof BadUpdate) throw body;
  requireRound(body.round, contractId);
  const fp = String(Buffer.from(body.content, 'hex').readBigInt64BE(0));
  return { k: 'O', ...time, cid: contractId, round: Number(body.round), fp };
}

function archived({ entity, contractId }: Archive, time: EventTime): ContractArchived {
  if (entity === null) return { k: 'P', ...time, cid: contractId };
  if (entity === 'OpenMiningRound') return { k: 'X', ...time, cid: contractId };
  return { k: 'A', ...time, cid: contractId, locked: entity === 'LockedAmulet' ? 1 : 0 };
}

/** 64 bits of what makes two creates of one contract equal (docs/rules.md, rule 9), signed, in digits: engines need no more of the content. */
export function fingerprint(coin: Coin, dso: string): string {
  const { entity, owner, amount, rate, round, createdAt } = coin;
  const { createArguments, signatories, observers } = coinContent(coin, dso);
  const terms = [entity, owner, String(amount), String(rate), String(round), createdAt];
  const sets = [signatories, observers].map((parties) => [...new Set(parties)].sort());
  const digest = hash('sha256', JSON.stringify([terms, sets, comparableJson(createArguments)]), 'buffer');
  // 0 is that of counterfeits.
  return String(digest.readBigInt64BE(0) || 1n);
}

/** Of a counterfeit, whose content is never looked at: any two are equal, and none equals a coin. */
const COUNTERFEIT_FINGERPRINT = '0';
