import type { State } from '../data/answers.ts';

/** What a contract says of its coin, as text; the arguments are the feed's, so any of it may be missing. */
export interface Coin {
  readonly contractId: string;
  readonly createdAt: string;
  readonly locked: boolean;
  readonly amount: string;
  readonly rate: string;
  readonly round: string;
}

/** The names of the columns of the CSV, in their order. */
export const COIN_FIELDS = ['contract_id', 'created_at', 'locked', 'amount', 'rate_per_round', 'created_round'];

export function coinOf({ contract_id, created_at, create_arguments }: State['created_events'][number]): Coin {
  const amulet = create_arguments.amulet ?? create_arguments;
  return {
    contractId: contract_id,
    createdAt: created_at,
    locked: create_arguments.amulet !== undefined,
    amount: textAt(amulet, 'amount', 'initialAmount'),
    rate: textAt(amulet, 'amount', 'ratePerRound', 'rate'),
    round: textAt(amulet, 'amount', 'createdAt', 'number'),
  };
}

export function coinLine({ contractId, createdAt, locked, amount, rate, round }: Coin): string {
  return `${[contractId, createdAt, locked, amount, rate, round].join(',')}\r\n`;
}

function textAt(value: unknown, ...names: readonly string[]): string {
  let found = value;
  for (const name of names) found = (found as Readonly<Record<string, unknown>> | undefined)?.[name];
  return found === undefined ? '' : String(found);
}
