import type { Client } from 'pg';
import { eventTime } from '../../../src/scale/flat-event.ts';

/** An event of a contract: its kind, the minute of its time (null for an import), and what differs from the usual. */
type Told = readonly [k: string, minute: number | null, more?: object];

export interface OddCase {
  readonly name: string;
  readonly events: readonly Told[];
  /** The kinds of its events that are faults. */
  readonly faults: string;
  /** How many coins and archives of it count. */
  readonly counts: readonly [created: number, archived: number];
}

const USUAL: Readonly<Record<string, object>> = {
  C: {
    ...{ owner: 'a::12', locked: 0, amt: '5.0000000000', rate: '0.5000000000', round: 3, rr: '1.5000000000' },
    ...{ expires: '13', fp: '7', at: 0, upd: 'u', node: 0, tpl: 't', extra: null },
  },
  G: { fp: '0' },
  O: { round: 4, fp: '9' },
  A: { locked: 0 },
};

const odd = (name: string, counts: OddCase['counts'], faults: string, ...events: readonly Told[]): OddCase => {
  return { name, events, faults, counts };
};

/** What no decoder makes of a ledger, or only of a repaired one. */
export const ODD_CASES: readonly OddCase[] = [
  odd('a coin', [1, 1], '', ['C', 1], ['A', 2]),
  odd('updates that come again', [1, 1], '', ['C', 1], ['A', 1], ['C', 1], ['A', 1]),
  odd('an import that comes again after its archive', [1, 1], '', ['C', null], ['C', null], ['A', 2]),
  odd('an equal create', [1, 0], '', ['C', 1], ['C', 2]),
  odd('a purge', [1, 1], '', ['C', 1], ['P', 2], ['P', 3]),
  odd('a purge of what is unknown', [0, 0], '', ['P', 1]),
  odd('a counterfeit', [0, 0], '', ['G', 1], ['A', 2], ['A', 2]),
  odd('a locked one', [0, 0], '', ['G', 1], ['A', 2, { locked: 1 }]),
  odd('a counterfeit round', [0, 0], '', ['G', 1], ['X', 2]),
  odd('a round', [0, 0], '', ['O', 1], ['X', 2]),
  odd('an archive without a create', [0, 0], 'A', ['A', 1]),
  odd('an archive before its create', [0, 0], 'AC', ['A', 1], ['C', 2]),
  odd('an archive before the first coin of an owner', [0, 0], 'AC', ['A', 1], ['C', 2, { owner: 'b::12' }]),
  odd('a round that was never opened', [0, 0], 'X', ['X', 1]),
  odd('two contents', [1, 0], 'CA', ['C', 1], ['C', 2, { fp: '8' }], ['A', 3]),
  odd('a coin and a counterfeit', [1, 0], 'G', ['C', 1], ['G', 2]),
  odd('an archive of another template', [1, 0], 'A', ['C', 1], ['A', 2, { locked: 1 }]),
  odd('a coin that is archived as a round', [1, 0], 'X', ['C', 1], ['X', 2]),
  odd('a second archive', [1, 1], 'A', ['C', 1], ['A', 2], ['A', 3]),
  odd('an archive after a purge', [1, 1], 'A', ['C', 1], ['P', 2], ['A', 3]),
  odd('an id created again after its archive', [1, 1], 'C', ['C', 1], ['A', 2], ['C', 3]),
];

const START_US = Date.UTC(2026, 0, 1) * 1000;

/** An event as a message of a migration, of the contract whose id is given. */
export function oddMessage(m: number, periodUs: number, cid: string | null, [k, minute, more]: Told): string {
  const time = eventTime(m, minute === null ? null : START_US + minute * 60_000_000, periodUs);
  return JSON.stringify({ k, ...time, ...(cid === null ? {} : { cid }), ...USUAL[k], ...more });
}

/** The messages of all cases in the order of their times, behind an interval in which nothing but time is told. */
export function oddMessages(m: number, periodUs: number): string[] {
  const time = { name: null, event: ['T', -10] as Told };
  const events = [time, ...ODD_CASES.flatMap(({ name, events }) => events.map((event) => ({ name, event })))];
  const minute = ({ event }: (typeof events)[number]): number => event[1] ?? -Infinity;
  return events
    .toSorted((a, b) => minute(a) - minute(b))
    .map(({ name, event }) => oddMessage(m, periodUs, name, event));
}

/** How often the contract of each case was created and archived in a store, and the kinds of its faults. */
export async function oddCasesIn(client: Client, m: number): Promise<object[]> {
  const ask = async <T>(sql: string): Promise<Map<string, T>> =>
    new Map((await client.query<[string, T]>({ text: sql, values: [m], rowMode: 'array' })).rows);
  const created = await ask<number>('SELECT contract_id, 1 FROM coin WHERE migration_id = $1');
  const archived = await ask<number>('SELECT contract_id, 1 FROM spent WHERE migration_id = $1');
  const kinds = await ask<string>(
    "SELECT contract_id, string_agg(k, '' ORDER BY k) FROM fault WHERE migration_id = $1 GROUP BY contract_id",
  );
  return ODD_CASES.map(({ name }) => ({
    name,
    counts: [created.get(name) ?? 0, archived.get(name) ?? 0],
    faults: kinds.get(name) ?? '',
  }));
}
