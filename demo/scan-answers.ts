import { type ActiveContract, activeContracts, migrationOf, type ScanItem } from './active-contracts.ts';
import type { Answer } from './local-server.ts';

/** What a Scan holds. */
export interface Holdings {
  readonly dso: string;
  /** Its migration; null: that of its newest update. */
  readonly migrationId: number | null;
  readonly isBackfilled: boolean;
  /** Its release of Splice, as `GET /version` gives it. */
  readonly version: string;
  /** The versions of `/state/acs` that it knows: Splice before 0.7.5 only v1, 0.9 only v2. */
  readonly acs: readonly ('v1' | 'v2')[];
  /** Its snapshots exist for these times. */
  readonly snapshots: readonly string[];
  readonly pageSizeMax: number;
  /** What is in front of it cuts each page of updates to so many, whatever was asked for. */
  readonly pageCap: number;
  /** A larger page of updates takes too long. */
  readonly pageSizeInTime: number;
  /** The row number of its first contract in a snapshot: each Scan counts for itself. */
  readonly firstRow: number;
  /** Added to what its summaries and its supply say, in whole coins. */
  readonly wrongBy: { readonly summary: number; readonly supply: number };
}

interface Line {
  readonly text: string;
  readonly migrationId: number;
  readonly time: string;
  readonly synchronizer: string;
}

const bad = (error: string): Answer => ({ status: 400, body: { error } });

/** A time with all six digits, so that times are compared as text. */
export function sixDigits(time: string): string {
  const [seconds = '', fraction = ''] = time.replace(/Z$/, '').split('.');
  return `${seconds}.${fraction.padEnd(6, '0')}Z`;
}

/** Without the zeros at the end of a fraction, as a Scan prints the times of its snapshots. */
const printed = (time: string): string => time.replace(/\.?0+Z$/, 'Z').replace(/(:\d)Z$/, '$10Z');

/** The rules by which a Scan answers, over lines of format A. */
export function createAnswers(holdings: () => Holdings, lines: () => readonly string[]) {
  let sorted: Line[] = [];
  /** How many lines are in it, and the last of them. */
  let sortedOf: { readonly count: number; readonly last: string | undefined } = { count: 0, last: undefined };
  let active: { readonly of: string; readonly contracts: readonly ActiveContract[] } = { of: '', contracts: [] };

  function items(): readonly Line[] {
    const now = lines();
    const { count, last } = sortedOf;
    if (count === now.length) return sorted;
    const isAdded = count < now.length && now[count - 1] === last;
    const parsed = now.slice(isAdded ? count : 0).map((text): Line => {
      const item = JSON.parse(text) as ScanItem;
      const [migrationId, time] = [migrationOf(item), sixDigits(item.record_time)];
      return { text, migrationId, time, synchronizer: synchronizerOf(item) };
    });
    sortedOf = { count: now.length, last: now.at(-1) };
    const updates = parsed.filter(({ time }) => !time.startsWith('0001')).sort(inOrder);
    const isBehind = isAdded && updates.every((line) => sorted.length === 0 || inOrder(sorted.at(-1)!, line) <= 0);
    if (isBehind) sorted.push(...updates);
    else sorted = [...(isAdded ? sorted : []), ...updates].sort(inOrder);
    return sorted;
  }

  function migrationId(): number {
    return holdings().migrationId ?? Math.max(0, ...lines().map((line) => migrationOf(JSON.parse(line) as ScanItem)));
  }

  function activeAt(body: Record<string, unknown>): readonly ActiveContract[] | Answer {
    const time = sixDigits(String(body.record_time));
    if (body.migration_id !== migrationId() || !holdings().snapshots.map(sixDigits).includes(time)) {
      const error = `Failed to find ACS snapshot for migration id ${body.migration_id} at ${body.record_time}`;
      return { status: 404, body: { error } };
    }
    return activeContractsAt(time);
  }

  /** Those of the last time are kept while no update comes: they are asked for page by page. */
  function activeContractsAt(recordTime: string): readonly ActiveContract[] {
    const of = `${lines().length} ${migrationId()} ${recordTime}`;
    if (active.of !== of)
      active = { of, contracts: activeContracts(lines(), { migrationId: migrationId(), recordTime }) };
    return active.contracts;
  }

  return {
    updates({
      page_size: size,
      after,
      daml_value_encoding: encoding = 'compact_json',
    }: Record<string, unknown>): Answer {
      const { pageSizeMax, pageSizeInTime, pageCap } = holdings();
      if (typeof size !== 'number' || encoding !== 'compact_json')
        return { status: 400, body: 'The request content was malformed:\nmissing page_size' };
      if (size < 1) return bad('Limit must be at least 1.');
      if (size > pageSizeMax) return bad(`Exceeded limit maximum (${size} > ${pageSizeMax}).`);
      if (size > pageSizeInTime)
        return { status: 503, body: { error: 'The server is taking too long to respond to the request.' } };
      const from = after as { after_migration_id: number; after_record_time: string } | undefined;
      if (from !== undefined && Number.isNaN(Date.parse(from.after_record_time)))
        return bad(`Invalid timestamp: ${from.after_record_time}`);
      const time = sixDigits(from?.after_record_time ?? '');
      const behind = items().filter((line) => from === undefined || isAfter(line, from.after_migration_id, time));
      // As its own bytes, which a printer of JSON might change.
      return {
        status: 200,
        body: Buffer.from(
          `{"transactions":[${behind
            .slice(0, Math.min(size, pageCap))
            .map(({ text }) => text)
            .join(',')}]}`,
        ),
      };
    },
    snapshotTimestamp(query: URLSearchParams): Answer {
      const before = sixDigits(query.get('before') ?? '');
      const of = Number(query.get('migration_id')) === migrationId() ? holdings().snapshots : [];
      const newest = of
        .map(sixDigits)
        .filter((time) => time <= before)
        .sort()
        .at(-1);
      if (newest === undefined) return { status: 404, body: { error: `No snapshots found before ${before}` } };
      return { status: 200, body: { record_time: printed(newest) } };
    },
    /** Of v1 the token is a row number, of v2 a string that belongs to its parameters. */
    acs(body: Record<string, unknown>, version: 'v1' | 'v2'): Answer {
      const { pageSizeMax, firstRow } = holdings();
      const size = Number(body.page_size);
      const parameters = JSON.stringify([body.migration_id, body.record_time, body.templates]);
      const tokenOf = (row: number): unknown =>
        version === 'v1' ? row : Buffer.from(`${row} ${parameters}`).toString('base64url');
      const after = version === 'v1' || body.after === undefined ? body.after : rowOf(body.after, parameters);
      if (after === null) return bad('Invalid after token.');
      if (size > pageSizeMax) return bad(`Exceeded limit maximum (${size} > ${pageSizeMax}).`);
      const active = activeAt(body);
      if ('status' in active) return active;
      const skipped = after === undefined ? 0 : Number(after) - firstRow + 1;
      if (skipped < 0 || skipped > active.length)
        return bad(`Invalid after token, outside of snapshot range (${firstRow} to ${firstRow + active.length}).`);
      const wanted = (body.templates as readonly string[]).map((name) => name.split(':').slice(1).join(':'));
      const page = active.slice(skipped, skipped + size);
      const events = page
        .filter(({ created }) => wanted.includes(created.template_id.split(':').slice(1).join(':')))
        .map(({ created: { event_type: _, event_id: __, ...contract }, updateId }) => ({
          created_in_update_id: updateId,
          ...contract,
        }));
      const next = page.length === size ? { next_page_token: tokenOf(firstRow + skipped + size - 1) } : {};
      const { record_time, migration_id } = body;
      return { status: 200, body: { record_time, migration_id, created_events: events, ...next } };
    },
    summary(body: Record<string, unknown>): Answer {
      const active = activeAt(body);
      if ('status' in active) return active;
      const owners = body.owner_party_ids as readonly string[];
      const summaries = owners.flatMap((party_id) => {
        const [unlocked, locked] = totalsOf(active.filter((each) => ownerOf(each) === party_id && counts(each)));
        const wrong = BigInt(holdings().wrongBy.summary) * UNITS;
        if (unlocked + locked === 0n) return [];
        const shown = { total_unlocked_coin: shownAmount(unlocked + wrong), total_locked_coin: shownAmount(locked) };
        return [{ party_id, ...shown, total_coin_holdings: shownAmount(unlocked + locked + wrong) }];
      });
      return { status: 200, body: { record_time: body.record_time, migration_id: body.migration_id, summaries } };
    },
    instrument(): Answer {
      const newest = holdings().snapshots.map(sixDigits).sort().at(-1);
      const known = { id: 'Amulet', name: 'Amulet', symbol: 'AMT', decimals: 10 };
      if (newest === undefined) return { status: 200, body: known };
      const active = activeContractsAt(newest);
      const [unlocked, locked] = totalsOf(active.filter(counts));
      const totalSupply = shownAmount(unlocked + locked + BigInt(holdings().wrongBy.supply) * UNITS);
      return { status: 200, body: { ...known, totalSupply, totalSupplyAsOf: printed(newest) } };
    },
    migrationId,
  };

  function counts({ created }: ActiveContract): boolean {
    const { dso } = holdings();
    const signatories = created.signatories as readonly string[];
    return coinOf(created.create_arguments).dso === dso && signatories.includes(dso);
  }
}

/** The row of a token of v2; null where it is none, or one of other parameters. */
function rowOf(token: unknown, parameters: string): number | null {
  const [row, ...of] = typeof token === 'string' ? Buffer.from(token, 'base64url').toString().split(' ') : [];
  return of.join(' ') === parameters ? Number(row) : null;
}

function synchronizerOf({ event, synchronizer_id = '' }: ScanItem): string {
  if (event === undefined) return synchronizer_id;
  return event.created_event === undefined ? event.source_synchronizer : event.target_synchronizer;
}

function inOrder(a: Line, b: Line): number {
  if (a.migrationId !== b.migrationId) return a.migrationId - b.migrationId;
  const key = ({ time, synchronizer }: Line): string => `${time} ${synchronizer}`;
  return key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
}

function isAfter(line: Line, migrationId: number, time: string): boolean {
  return line.migrationId === migrationId ? line.time > time : line.migrationId > migrationId;
}

const UNITS = 10_000_000_000n;

interface CoinArguments {
  readonly dso?: string;
  readonly owner?: string;
  readonly amount?: { readonly initialAmount: string };
  readonly amulet?: CoinArguments;
}

/** The coin within the arguments of an Amulet or a LockedAmulet; of a round only its dso. */
function coinOf(payload: unknown): CoinArguments & { readonly isLocked: boolean } {
  const given = payload as CoinArguments;
  return given.amulet === undefined ? { ...given, isLocked: false } : { ...given.amulet, isLocked: true };
}

function ownerOf({ created }: ActiveContract): string | undefined {
  return coinOf(created.create_arguments).owner;
}

/** Sums of the unlocked and of the locked coins, in units of ten decimals. */
function totalsOf(contracts: readonly ActiveContract[]): [bigint, bigint] {
  const sums: [bigint, bigint] = [0n, 0n];
  for (const { created } of contracts) {
    const { amount, isLocked } = coinOf(created.create_arguments);
    if (amount !== undefined) sums[isLocked ? 1 : 0] += unitsOf(amount.initialAmount);
  }
  return sums;
}

/** A decimal as Java prints it: `12.5`, `1E-10`. */
function unitsOf(text: string): bigint {
  const [mantissa = '', exponent = '0'] = text.split('E');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const places = 10 - fraction.length + Number(exponent);
  return BigInt(whole + fraction) * 10n ** BigInt(Math.max(places, 0));
}

function shownAmount(units: bigint): string {
  const digits = units.toString().padStart(11, '0');
  return `${digits.slice(0, -10)}.${digits.slice(-10)}`;
}
