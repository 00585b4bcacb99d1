import { CONTRACT_ID_CHARS_MAX } from '../../decode/values.ts';
import { INT64_MAX } from '../../json/int64.ts';
import { type CoinColumns, coinContent, coinExtra } from '../../ledger/coin.ts';
import { type StoredId, storedId } from '../../ledger/contract-id.ts';
import { expiryRound } from '../../ledger/expiry.ts';
import { type CoinEntity, ENTITIES } from '../../ledger/templates.ts';
import { WIDE_BYTES } from '../store/columns.ts';
import type { SumTerms } from '../store/totals.ts';

/** A row of `holding` as it is stored: a damaged one may have any values. */
export interface StoredHolding {
  /** Null where there is none. */
  readonly no: bigint | null;
  readonly owner: bigint | null;
  readonly createdSeq: bigint | null;
  readonly locked: bigint | null;
  readonly amount: unknown;
  readonly rate: unknown;
  readonly round: bigint | null;
  readonly createdAt: bigint | null;
  readonly node: bigint | null;
  readonly template: bigint | null;
  readonly contractId: unknown;
  readonly updateId: unknown;
  readonly args: string | null;
}

export const HOLDING_COLUMNS = `c.no AS no, c.owner AS owner, c.created_seq AS createdSeq, c.locked AS locked, c.amount AS amount,
  c.rate AS rate, c.round AS round, c.created_at AS createdAt, c.node AS node, c.template AS template,
  c.contract_id AS contractId, c.update_id AS updateId, c.args AS args`;

/** What a holding adds to its owner's sums; null where its numbers cannot be a coin's. */
export function termsOf({ amount, rate, round }: StoredHolding): (SumTerms & { readonly round: bigint }) | null {
  const [units, perRound] = [unitsOrNull(amount), unitsOrNull(rate)];
  if (units === null || perRound === null || units <= 0n || round === null || round < 0n) return null;
  const expiry = expiryRound({ amount: units, rate: perRound, createdRound: round }) ?? Infinity;
  return { amount: units, rate: perRound, round, rateRound: perRound * round, expiry };
}

/** An amount or rate in its only valid form: an integer, or 16 bytes where that is too narrow. */
function unitsOrNull(column: unknown): bigint | null {
  if (typeof column === 'bigint') return column < 0n ? null : column;
  if (!Buffer.isBuffer(column) || column.length !== WIDE_BYTES) return null;
  const units = BigInt(`0x${column.toString('hex')}`);
  return units > INT64_MAX ? units : null;
}

/** Bytes for lower-case hex of even length, else text. */
export function isStoredId(id: unknown, charsMax = CONTRACT_ID_CHARS_MAX): id is StoredId {
  if (typeof id === 'string') return id.length > 0 && id.length <= charsMax && storedId(id) === id;
  return Buffer.isBuffer(id) && id.length > 0;
}

/**
 * Whether `args` is how such a coin is stored (ledger/coin.ts): its content is encoded again with the numbers of the columns,
 * and must give the same text, so an amount or an owner that is in both places cannot differ.
 */
export function isArguments(args: string | null, coin: Omit<CoinColumns, 'extra'>, dso: string): boolean {
  if (args === null) return coin.entity === 'Amulet';
  try {
    const { createArguments, ...parties } = coinContent({ ...coin, extra: args }, dso);
    const amulet = (coin.entity === 'Amulet' ? createArguments : createArguments.amulet) as Record<string, unknown>;
    if (amulet.dso !== dso || amulet.owner !== coin.owner) return false;
    return coinExtra({ ...coin, ...parties, dso, arguments: createArguments }) === args;
  } catch {
    return false;
  }
}

/** Null for a template that is no coin's. */
export function coinEntityOf(templateId: string): CoinEntity | null {
  const entity = ENTITIES.get(templateId.replace(/^[^:]+:/, ''));
  return entity === undefined || entity === 'OpenMiningRound' ? null : entity;
}
