import { isDeepStrictEqual } from 'node:util';
import type { Snapshot, StoredContract, UnlockedLocked, ViewsReader } from '../../../src/views/read/types.ts';
import type { Oracle, OracleSnapshot } from '../ledger/oracle.ts';
import {
  feesOf,
  ordered,
  ownersOf,
  snapshotAfter,
  snapshotAt,
  stateV1,
  supplyOf,
  tellingRounds,
  totalsOf,
} from '../ledger/oracle-answers.ts';
import { shortTime } from '../ledger/wire-text.ts';

const STRANGER = 'nobody::1220ee';
/** At most this many rounds are asked for each owner, but for the newest snapshot, where all are. */
const ROUNDS_MAX = 12;
/** Walked page by page in full; other snapshots in pages of this size only. */
const PAGE_SIZES = [1, 2, 7, 1000];
const PAGE_SIZE_USUAL = 13;

/** What the views answer otherwise than the oracle, each difference in a line; empty where they agree in everything. */
export function differences(views: ViewsReader, expected: Oracle): string[] {
  const found: string[] = [];
  const check: Check = (what, given, wanted) => {
    if (!isDeepStrictEqual(given, wanted)) found.push(`${what}: given ${show(given)}, expected ${show(wanted)}`);
  };
  const listed = [...views.snapshots()];
  check('snapshots', listed.map(withoutSeq), expected.snapshots.map(figuresOf));
  check('last migration', views.lastMigration(), expected.lastMigration);
  check('lowest open round', views.lowestOpenRound(), expected.lowestOpenRound);
  checkNewest(check, views, expected);
  expected.snapshots.forEach((wanted, number) => {
    const snapshot = listed[number];
    if (snapshot === undefined) return;
    checkLookups(check, views, expected, wanted);
    checkSnapshot(check, views, {
      snapshot,
      wanted,
      inFull: number % 10 === 9 || wanted === expected.snapshots.at(-1),
    });
  });
  return found;
}

type Check = (what: string, given: unknown, wanted: unknown) => void;

function show(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}` : each)).slice(0, 500);
}

function figuresOf(wanted: OracleSnapshot): Omit<Snapshot, 'seq'> {
  const { migrationId, recordTime, coins } = wanted;
  return { migrationId, recordTime, contracts: coins.length, owners: ownersOf(wanted).length, ...supplyOf(wanted) };
}

function withoutSeq({ seq: _, ...figures }: Snapshot): Omit<Snapshot, 'seq'> {
  return figures;
}

type Place = Pick<Snapshot, 'migrationId' | 'recordTime'>;

function place(snapshot: Place | null): Place | null {
  return snapshot && { migrationId: snapshot.migrationId, recordTime: snapshot.recordTime };
}

function checkNewest(check: Check, views: ViewsReader, { snapshots }: Oracle): void {
  const migrations = [...new Set(snapshots.map(({ migrationId }) => migrationId))];
  const newest = migrations.map((migrationId) =>
    place(snapshots.findLast((each) => each.migrationId === migrationId)!),
  );
  check('newest snapshots', views.newestSnapshots().map(place), newest);
  check('newest snapshot', place(views.newestSnapshot()), newest.at(-1) ?? null);
  migrations.forEach((migrationId, i) => {
    check(`newest of ${migrationId}`, place(views.newestSnapshot(BigInt(migrationId))), newest[i]);
  });
}

/** Look-ups at a snapshot's own time and a microsecond beside it, in its migration and the neighbouring numbers. */
function checkLookups(check: Check, views: ViewsReader, expected: Oracle, wanted: OracleSnapshot): void {
  for (const migrationId of [wanted.migrationId - 1, wanted.migrationId, wanted.migrationId + 1]) {
    for (const recordTime of [wanted.recordTime - 1, wanted.recordTime, wanted.recordTime + 1]) {
      const query = { migrationId, recordTime };
      const wide = { migrationId: BigInt(migrationId), recordTime: BigInt(recordTime) };
      const name = `${migrationId} at ${shortTime(recordTime)}`;
      for (const match of ['exact', 'at_or_before'] as const) {
        const given = place(views.snapshotAt({ ...wide, match }));
        check(`${match} ${name}`, given, place(snapshotAt(expected, { ...query, match })));
      }
      check(`after ${name}`, place(views.firstSnapshotAfter(wide)), place(snapshotAfter(expected, query)));
    }
  }
}

interface Compared {
  readonly snapshot: Snapshot;
  readonly wanted: OracleSnapshot;
  /** Every telling round and several page sizes, not a few of them. */
  readonly inFull: boolean;
}

function checkSnapshot(check: Check, views: ViewsReader, { snapshot, wanted, inFull }: Compared): void {
  const owners = ownersOf(wanted);
  const at = `${snapshot.migrationId} ${shortTime(snapshot.recordTime)}`;
  const all = tellingRounds(wanted);
  const stride = inFull ? 1 : Math.ceil(all.length / ROUNDS_MAX);
  const rounds = all.filter((_, i) => i % stride === 0);
  for (const party of [...owners, STRANGER]) {
    check(`totals ${at} ${party}`, views.totals(snapshot, party), totalsOf(wanted, party));
    check(`holds ${at} ${party}`, views.holds(snapshot, party), party !== STRANGER);
    for (const round of rounds) {
      const fees = feesOf(wanted, party, round);
      check(`fees ${at} ${party} ${round}`, views.fees(snapshot, party, round), fees);
      checkBounded(check, (budget) => views.boundedFees(snapshot, party, round, budget), fees);
    }
  }
  for (const size of inFull ? PAGE_SIZES : [PAGE_SIZE_USUAL]) {
    const { items, tokens } = walkPages(check, views, snapshot, { parties: [STRANGER, ...owners, ...owners], size });
    check(`state ${at} by ${size}`, asAnswered(items), asAnswered(stateV1(wanted, owners)));
    if (size === 1) checkTokens(check, views, { snapshot, wanted, tokens });
  }
}

/** Every item over all pages, and the token behind each page but the last. */
function walkPages(
  check: Check,
  views: ViewsReader,
  snapshot: Snapshot,
  { parties, size }: { parties: readonly string[]; size: number },
): { items: unknown[]; tokens: bigint[] } {
  const items: unknown[] = [];
  const tokens: bigint[] = [];
  for (;;) {
    const page = views.page({ snapshot, parties, after: tokens.at(-1) ?? null, size });
    if (page === null) throw new Error(`token ${tokens.at(-1)} was given out and is refused`);
    items.push(...page.contracts.map(itemOf));
    if (page.next === null) return { items, tokens };
    if (tokens.includes(page.next)) throw new Error(`token ${page.next} was given out twice`);
    check('a page before the last is full', page.contracts.length, size);
    tokens.push(page.next);
  }
}

/** Any token given out works with any owners; one of another snapshot only where its contract is active here too. */
function checkTokens(
  check: Check,
  views: ViewsReader,
  { snapshot, wanted, tokens }: { snapshot: Snapshot; wanted: OracleSnapshot; tokens: readonly bigint[] },
): void {
  const coins = ordered(wanted, ownersOf(wanted)).map(({ contract }) => contract.contractId);
  const some = ownersOf(wanted).filter((_, i) => i % 2 === 0);
  const someCoins = new Set(ordered(wanted, some).map(({ contract }) => contract.contractId));
  tokens.forEach((after, i) => {
    const page = views.page({ snapshot, parties: some, after, size: 3 });
    const behind = coins.slice(i + 1).filter((id) => someCoins.has(id));
    const given = page?.contracts.map(({ contractId }) => contractId);
    check(`page of some owners behind ${coins[i]}`, given, behind.slice(0, 3));
  });
  const known = new Set(tokens);
  const last = views.page({ snapshot, parties: ownersOf(wanted), after: tokens.at(-1) ?? null, size: 1000 });
  check('the last page has no token', last?.next, null);
  const highest = [...known].reduce((most, token) => (token > most ? token : most), 0n);
  for (const after of [-1n, 0n, highest + 1_000_000n, 2n ** 63n - 1n]) {
    check(`token ${after} is refused`, views.page({ snapshot, parties: some, after, size: 3 }), null);
  }
}

/** As the oracle prints an item of state. */
/** As JSON says it: the views keep each number of a payload as the text that came. */
function asAnswered(items: unknown): unknown {
  return JSON.parse(JSON.stringify(items));
}

function itemOf(contract: StoredContract): Record<string, unknown> {
  return {
    contract_id: contract.contractId,
    template_id: contract.templateId,
    package_name: contract.packageName,
    create_arguments: contract.createArguments,
    created_at: shortTime(contract.createdAt),
    signatories: contract.signatories,
    observers: contract.observers,
    created_in_update_id: contract.updateId,
  };
}

/** The same fees within any bound on the rows read, or none; and no more rows than that. */
function checkBounded(
  check: Check,
  bounded: (budget: { rows: number }) => UnlockedLocked | null,
  fees: UnlockedLocked,
): void {
  const enough = { rows: 100_000 };
  check('bounded fees', bounded(enough), fees);
  const needed = 100_000 - enough.rows;
  for (const rows of [needed, needed + 1, needed - 1]) {
    if (rows < 0) continue;
    const budget = { rows };
    check(`fees of ${needed} rows within ${rows}`, bounded(budget), rows < needed ? null : fees);
    check(`rows left of ${rows}`, budget.rows, rows < needed ? rows : rows - needed);
  }
}
