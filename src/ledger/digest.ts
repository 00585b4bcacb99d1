import { createHash, type Hash, hash } from 'node:crypto';
import type { CoinEntity } from './templates.ts';
import { formatTime, type Micros } from './time.ts';

/**
 * The digests by which two replicas of a ledger are compared: docs/digest.md. An item is the SHA-256 of a line that says what
 * changed; the items of an interval give its `changes_digest`, and these, one after the other, the `digest` of each snapshot.
 */
export const ITEM_BYTES = 32;

/** What a coin's create says of it. */
export interface DigestedCoin {
  readonly entity: CoinEntity;
  readonly owner: string;
  /** 1e-10 units, per round for the rate. */
  readonly amount: bigint;
  readonly rate: bigint;
  readonly round: number | bigint;
  readonly createdAt: Micros;
}

export function createdLine(coin: DigestedCoin, contractId: string): string {
  const { entity, owner, amount, rate, round, createdAt } = coin;
  const terms = `${entity === 'LockedAmulet' ? 'l' : 'u'} ${amount} ${rate} ${round} ${createdAt}`;
  return `+ ${terms} ${Buffer.byteLength(owner)} ${owner} ${contractId}\n`;
}

/** What a token's create says of it. Owner and provider are empty for none. */
export interface DigestedToken {
  readonly locked: boolean;
  readonly amount: bigint;
  readonly createdAt: Micros;
  readonly admin: string;
  readonly instrument: string;
  readonly owner: string;
  readonly provider: string;
  readonly accountId: string;
}

export function tokenLine(token: DigestedToken, contractId: string): string {
  const { locked, amount, createdAt, admin, instrument, owner, provider, accountId } = token;
  const texts = [admin, instrument, owner, provider, accountId].map((text) => `${Buffer.byteLength(text)} ${text}`);
  return `+ t ${locked ? 'l' : 'u'} ${amount} ${createdAt} ${texts.join(' ')} ${contractId}\n`;
}

export function archivedLine(contractId: string): string {
  return `- ${contractId}\n`;
}

/** The item of a line, a character for each byte: three times as fast as a Buffer for each. */
export function itemOf(line: string): string {
  return hash('sha256', line, 'binary');
}

/** To be updated with the items of the interval that the snapshot ends, each once, in the order of their bytes. */
export function changesHash(migrationId: number, recordTime: Micros): Hash {
  return createHash('sha256').update(`${migrationId} ${formatTime(recordTime)}\n`);
}

/** What the digest of a migration's first snapshot follows. */
export function firstDigest(migrationId: number, periodUs: number): Buffer {
  return hash('sha256', `${migrationId} ${periodUs}\n`, 'buffer');
}

export function nextDigest(before: Buffer, changes: Buffer): Buffer {
  return hash('sha256', Buffer.concat([before, changes]), 'buffer');
}
