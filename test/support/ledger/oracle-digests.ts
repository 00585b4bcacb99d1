import { createHash } from 'node:crypto';
import type { ActiveCoin } from './oracle.ts';
import { coinOf } from './oracle-answers.ts';
import { shortTime } from './wire-text.ts';

/** The digests of a snapshot on the grid, in hex; null where it was forced. */
export interface OracleDigests {
  readonly changesDigest: string | null;
  readonly digest: string | null;
}

export const NO_DIGESTS: OracleDigests = { changesDigest: null, digest: null };

interface OnTheGrid {
  readonly migrationId: number;
  readonly recordTime: number;
  readonly periodMicros: number;
  readonly coins: readonly ActiveCoin[];
  /** The snapshot on the grid before it. */
  readonly before: { readonly coins: readonly ActiveCoin[]; readonly digest: string | null } | undefined;
}

/** As docs/digest.md says, by comparing the whole active sets of two snapshots. A contract is one create. */
export function digestsOf({ migrationId, recordTime, periodMicros, coins, before }: OnTheGrid): OracleDigests {
  const [held, now] = [new Set(before?.coins), new Set(coins)];
  const lines = [
    ...coins.filter((coin) => !held.has(coin)).map(createdLine),
    ...[...held].filter((coin) => !now.has(coin)).map(({ contract }) => `- ${contract.contractId}\n`),
  ];
  const items = lines.map((line) => sha256(line)).sort();
  const changesDigest = sha256(`${migrationId} ${shortTime(recordTime)}\n`, ...items.map((item) => bytes(item)));
  const previous = before?.digest ?? sha256(`${migrationId} ${periodMicros}\n`);
  return { changesDigest, digest: sha256(bytes(previous), bytes(changesDigest)) };
}

function createdLine(coin: ActiveCoin): string {
  const { owner, amount, rate, round, lock } = coinOf(coin);
  const { contractId, createdAt } = coin.contract;
  const length = Buffer.from(owner).length;
  return `+ ${lock === null ? 'u' : 'l'} ${amount} ${rate} ${round} ${createdAt} ${length} ${owner} ${contractId}\n`;
}

function sha256(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}
