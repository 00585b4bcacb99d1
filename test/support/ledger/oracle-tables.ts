import type { Micros } from './history.ts';
import type { OracleSnapshot } from './oracle.ts';
import type { OracleDigests } from './oracle-digests.ts';
import { type Account, accountKey, byAccount, holdingsOf, type Instrument, instrumentsOf } from './oracle-holdings.ts';
import { plainDecimal, shortTime } from './wire-text.ts';

export interface OracleTotals {
  readonly unlocked: bigint;
  readonly locked: bigint;
  readonly contracts: number;
}

/** A snapshot with what each owner has in it. */
export interface FoldedSnapshot extends OracleDigests {
  readonly migrationId: number;
  readonly recordTime: Micros;
  readonly forced: boolean;
  readonly owners: ReadonlyMap<string, OracleTotals>;
  readonly supply: OracleTotals;
  /** By owner, provider and id. */
  readonly accounts: readonly OracleAccount[];
}

export interface OracleAccount extends Account, OracleTotals {}

type Row = Readonly<Record<string, unknown>>;

const NOTHING: OracleTotals = { unlocked: 0n, locked: 0n, contracts: 0 };

/** Of the coin unless an instrument is named. */
export function folded(
  snapshot: OracleSnapshot,
  forced: boolean,
  instrument: Instrument | null = null,
): FoldedSnapshot {
  const owners = new Map<string, OracleTotals>();
  const accounts = new Map<string, OracleAccount>();
  let supply = NOTHING;
  for (const { account, amount, locked } of holdingsOf(snapshot, instrument)) {
    const holding = { unlocked: locked ? 0n : amount, locked: locked ? amount : 0n, contracts: 1 };
    const key = accountKey(account);
    accounts.set(key, { ...account, ...plus(accounts.get(key) ?? NOTHING, holding) });
    if (account.owner !== null) owners.set(account.owner, plus(owners.get(account.owner) ?? NOTHING, holding));
    supply = plus(supply, holding);
  }
  const { coins, tokens, ...place } = snapshot;
  const ordered = [...accounts.values()].sort(byAccount);
  return { ...place, forced, owners, supply, accounts: ordered };
}

function plus(a: OracleTotals, b: OracleTotals): OracleTotals {
  return { unlocked: a.unlocked + b.unlocked, locked: a.locked + b.locked, contracts: a.contracts + b.contracts };
}

/** Rows of all snapshots, oldest first. */
export function snapshotRows(snapshots: readonly FoldedSnapshot[]): Row[] {
  return snapshots.map(({ recordTime, forced, owners, supply, changesDigest, digest, ...tokens }) => ({
    record_time: shortTime(recordTime),
    forced,
    owners: owners.size,
    contracts: supply.contracts,
    unlocked: plainDecimal(supply.unlocked),
    locked: plainDecimal(supply.locked),
    total: plainDecimal(supply.unlocked + supply.locked),
    changes_digest: changesDigest,
    digest,
    tokens_changes_digest: tokens.tokensChangesDigest,
    tokens_digest: tokens.tokensDigest,
  }));
}

function totalFields({ unlocked, locked }: OracleTotals): Row {
  return {
    unlocked: plainDecimal(unlocked),
    locked: plainDecimal(locked),
    total: plainDecimal(unlocked + locked),
  };
}

/** Of one migration's snapshots up to and including the one that is asked about, which is the last. */
export function listedOwners(snapshots: readonly FoldedSnapshot[], prefix: string): [string, OracleTotals][] {
  const known = new Set(snapshots.filter(({ forced }) => !forced).flatMap(({ owners }) => [...owners.keys()]));
  const parties = byBytes([...known].filter((party) => party.slice(0, prefix.length) === prefix));
  return parties.map((party) => [party, snapshots.at(-1)!.owners.get(party) ?? NOTHING]);
}

export function ownerRows(snapshots: readonly FoldedSnapshot[], prefix: string): Row[] {
  return listedOwners(snapshots, prefix).map(([party_id, totals]) => ({
    party_id,
    ...totalFields(totals),
    contracts: totals.contracts,
  }));
}

function byBytes(parties: string[]): string[] {
  return parties.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** Points of the snapshots that are not forced at the multiples of a time, and of the last snapshot, which is marked between two of them. */
export function pointRows(snapshots: readonly FoldedSnapshot[], party: string, every: Micros): Row[] {
  return snapshots.flatMap(({ recordTime, owners, forced }, i) => {
    const row = pointRow(recordTime, owners.get(party) ?? NOTHING);
    if (!forced && recordTime % every === 0) return [row];
    return i === snapshots.length - 1 ? [{ ...row, partial: true }] : [];
  });
}

function pointRow(recordTime: Micros, totals: OracleTotals): Row {
  return { record_time: shortTime(recordTime), ...totalFields(totals), contracts: totals.contracts };
}

export interface OracleChange {
  readonly recordTime: Micros;
  readonly before: OracleTotals;
  readonly after: OracleTotals;
}

/** Of the snapshots of a whole grid, oldest first. */
export function changesOf(grid: readonly FoldedSnapshot[], party: string): OracleChange[] {
  return grid.flatMap(({ recordTime, owners }, i) => {
    const [before, after] = [grid[i - 1]?.owners.get(party) ?? NOTHING, owners.get(party) ?? NOTHING];
    const same = JSON.stringify(Object.values(before).map(String)) === JSON.stringify(Object.values(after).map(String));
    return same ? [] : [{ recordTime, before, after }];
  });
}

export function changeRows(grid: readonly FoldedSnapshot[], party: string): Row[] {
  return changesOf(grid, party).map(({ recordTime, before, after }) => ({
    ...pointRow(recordTime, after),
    change_unlocked: plainDecimal(after.unlocked - before.unlocked),
    change_locked: plainDecimal(after.locked - before.locked),
    change_total: plainDecimal(after.unlocked - before.unlocked + (after.locked - before.locked)),
  }));
}

/** Of a migration's snapshots up to the last: each instrument of which anything was held in one on the grid, the coin apart. */
export function instrumentRows(
  snapshots: readonly { readonly forced: boolean; readonly snapshot: OracleSnapshot }[],
): Row[] {
  const grid = snapshots.filter(({ forced }) => !forced).map(({ snapshot }) => snapshot);
  return instrumentsOf(grid).map(({ admin, instrument }) => {
    const { owners, supply } = folded(snapshots.at(-1)!.snapshot, false, { admin, instrument });
    const counted = { owners: owners.size, contracts: supply.contracts };
    return { admin, id: instrument, ...totalFields(supply), ...counted, scope: 'followed' };
  });
}

/** What a party has of each instrument that it had on the grid up to the last of these snapshots, the coin apart. */
export function ownInstrumentRows(
  snapshots: readonly { readonly forced: boolean; readonly snapshot: OracleSnapshot }[],
  party: string,
): Row[] {
  const grid = snapshots.filter(({ forced }) => !forced).map(({ snapshot }) => snapshot);
  const own = grid.map(({ tokens }) => ({ tokens: tokens.filter(({ owner }) => owner === party) }));
  return instrumentsOf(own).map(({ admin, instrument }) => {
    const { owners, accounts } = folded(snapshots.at(-1)!.snapshot, false, { admin, instrument });
    const totals = owners.get(party) ?? NOTHING;
    const listed = accounts.filter(({ owner }) => owner === party);
    return {
      ...{ admin, id: instrument, ...totalFields(totals), contracts: totals.contracts },
      accounts: listed.map(({ provider, accountId, unlocked, locked }) => {
        return { provider, id: accountId, unlocked: plainDecimal(unlocked), locked: plainDecimal(locked) };
      }),
    };
  });
}

export type By = 'total' | 'unlocked' | 'locked';

const amountBy = ({ unlocked, locked }: OracleTotals, by: By): bigint =>
  by === 'total' ? unlocked + locked : by === 'locked' ? locked : unlocked;

export function ranked({ owners }: FoldedSnapshot, by: By): [string, OracleTotals][] {
  const parties = byBytes([...owners.keys()]).map((party): [string, OracleTotals] => [party, owners.get(party)!]);
  return parties.sort(([, a], [, b]) => {
    const [first, second] = [amountBy(a, by), amountBy(b, by)];
    return first > second ? -1 : first < second ? 1 : 0;
  });
}

export function rankedRows(snapshot: FoldedSnapshot, by: By): Row[] {
  const supply = snapshot.supply.unlocked + snapshot.supply.locked;
  return ranked(snapshot, by).map(([party_id, totals], i) => ({
    rank: i + 1,
    party_id,
    ...totalFields(totals),
    share: shareText(amountBy(totals, by), supply),
  }));
}

/** By long division, digit after digit, and then rounded at the eleventh. */
function shareText(part: bigint, whole: bigint): string {
  if (whole === 0n) return '0.0000000000';
  let rest = part % whole;
  let digits = part / whole;
  for (let i = 0; i < 10; i++) {
    rest *= 10n;
    digits = digits * 10n + rest / whole;
    rest %= whole;
  }
  return plainDecimal(rest * 2n >= whole ? digits + 1n : digits);
}
