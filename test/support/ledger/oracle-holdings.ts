import type { ActiveCoin } from './oracle.ts';
import { coinOf } from './oracle-answers.ts';
import type { TokenHolding } from './oracle-tokens.ts';

export interface Instrument {
  readonly admin: string;
  readonly instrument: string;
}

/** Of a coin: its owner alone. */
export interface Account {
  readonly owner: string | null;
  readonly provider: string | null;
  readonly accountId: string;
}

/** A coin or a token, as sums see it. */
interface Holding {
  readonly account: Account;
  readonly amount: bigint;
  readonly locked: boolean;
}

interface Active {
  readonly coins: Iterable<ActiveCoin>;
  readonly tokens: Iterable<TokenHolding>;
}

/** The holdings of an instrument, or the coins where none is named. */
export function holdingsOf({ coins, tokens }: Active, instrument: Instrument | null): Holding[] {
  if (instrument === null) {
    return [...coins].map(coinOf).map(({ owner, amount, lock }) => {
      return { account: { owner, provider: null, accountId: '' }, amount, locked: lock !== null };
    });
  }
  const { admin, instrument: id } = instrument;
  return [...tokens]
    .filter((token) => token.admin === admin && token.instrument === id)
    .map(({ owner, provider, accountId, amount, locked }) => {
      return { account: { owner, provider, accountId }, amount, locked };
    });
}

export function accountKey({ owner, provider, accountId }: Account): string {
  return JSON.stringify([owner, provider, accountId]);
}

/** By owner, provider and id as UTF-8, those without one first. */
export function byAccount(a: Account, b: Account): number {
  const texts = ({ owner, provider, accountId }: Account): string[] => [owner ?? '', provider ?? '', accountId];
  const [left, right] = [texts(a), texts(b)];
  const differences = left.map((text, i) => Buffer.compare(Buffer.from(text), Buffer.from(right[i]!)));
  return differences.find((difference) => difference !== 0) ?? 0;
}

/** Every instrument but the coin that has holdings, by admin and id as UTF-8. */
export function instrumentsOf(snapshots: readonly Pick<Active, 'tokens'>[]): Instrument[] {
  const found = new Map<string, Instrument>();
  for (const { tokens } of snapshots)
    for (const { admin, instrument } of tokens) found.set(JSON.stringify([admin, instrument]), { admin, instrument });
  const asAccount = ({ admin, instrument }: Instrument): Account => {
    return { owner: admin, provider: null, accountId: instrument };
  };
  return [...found.values()].sort((a, b) => byAccount(asAccount(a), asAccount(b)));
}
