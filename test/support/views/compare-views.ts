import { isDeepStrictEqual } from 'node:util';
import type { ContractFacts, OwnersFacts, PageFacts, Snapshot, SnapshotChoice } from '../../../src/holdings/facts.ts';
import { holdingFees, type UnlockedLocked } from '../../../src/holdings/summary-answer.ts';
import { NOT_BOUNDED } from '../../../src/views/read/stored-snapshots.ts';
import { createFactsReader, type FactsReader } from '../../../src/views/read/views-store.ts';
import { openForReading } from '../../../src/views/store/database.ts';
import type { Oracle, OracleSnapshot } from '../ledger/oracle.ts';
import {
  decisiveRounds,
  feesOf,
  ordered,
  ownersOf,
  snapshotAfter,
  snapshotAt,
  stateV1,
  supplyOf,
  totalsOf,
} from '../ledger/oracle-answers.ts';
import { shortTime } from '../ledger/wire-text.ts';

const STRANGER = 'nobody::1220ee';
/** At most this many rounds are requested for each owner, except for the newest snapshot, where all are. */
const ROUNDS_MAX = 6;
/** Walked page by page in full; other snapshots in pages of this size only. */
const PAGE_SIZES = [1, 7, 1000];
const PAGE_SIZE_USUAL = 13;

/** What a directory's views answer otherwise than the oracle, each difference in a line; empty where they agree in everything. */
export function differences(dataDir: string, expected: Oracle): string[] {
  const found: string[] = [];
  const check: Check = (what, given, wanted) => {
    if (!isDeepStrictEqual(given, wanted)) found.push(`${what}: given ${show(given)}, expected ${show(wanted)}`);
  };
  const db = openForReading(dataDir);
  try {
    const views = createFactsReader(db);
    db.transaction(() => checkAll(check, views, expected))();
  } finally {
    db.close();
  }
  return found;
}

function checkAll(check: Check, views: FactsReader, expected: Oracle): void {
  const listed = views.read({ kind: 'snapshots' });
  check('snapshots', listed.map(withoutSeq), expected.snapshots.map(figuresOf));
  check('last migration', views.read({ kind: 'last migration' }), expected.lastMigration);
  const { round } = ownersAt(views, newestOf(null), [], 'lowest open');
  check('lowest open round', round, expected.lowestOpenRound);
  checkNewest(check, views, expected);
  expected.snapshots.forEach((wanted, number) => {
    checkLookups(check, views, expected, wanted);
    checkSnapshot(check, views, { wanted, inFull: number % 10 === 9 || wanted === expected.snapshots.at(-1) });
  });
}

type Check = (what: string, given: unknown, wanted: unknown) => void;

function show(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}` : each)).slice(0, 500);
}

/** What the oracle knows of a snapshot. */
type Figures = Omit<Snapshot, 'forced'>;

function figuresOf(wanted: OracleSnapshot): Figures {
  const { coins, tokens, tokensChangesDigest, tokensDigest, ...place } = wanted;
  return {
    ...place,
    tokensChangesDigest,
    tokensDigest,
    contracts: coins.length,
    owners: ownersOf(wanted).length,
    ...supplyOf(wanted),
  };
}

/** A store may keep more of a snapshot than it has to give. */
function withoutSeq(snapshot: Snapshot): Figures {
  const {
    migrationId,
    recordTime,
    changesDigest,
    digest,
    tokensChangesDigest,
    tokensDigest,
    contracts,
    owners,
    unlocked,
    locked,
  } = snapshot;
  const digests = { changesDigest, digest, tokensChangesDigest, tokensDigest };
  return { migrationId, recordTime, ...digests, contracts, owners, unlocked, locked };
}

function newestOf(migrationId: bigint | null): SnapshotChoice {
  return { migrationId, recordTime: null, match: 'exact' };
}

function exactly({ migrationId, recordTime }: OracleSnapshot): SnapshotChoice {
  return { migrationId: BigInt(migrationId), recordTime: BigInt(recordTime), match: 'exact' };
}

function ownersAt(
  views: FactsReader,
  snapshot: SnapshotChoice,
  owners: readonly string[],
  round: bigint | 'lowest open' | null,
): OwnersFacts {
  return views.read({ kind: 'owners', snapshot, owners, round });
}

type Place = Pick<Snapshot, 'migrationId' | 'recordTime'>;

function place(snapshot: Place | null): Place | null {
  return snapshot && { migrationId: snapshot.migrationId, recordTime: snapshot.recordTime };
}

function checkNewest(check: Check, views: FactsReader, { snapshots, lastMigration }: Oracle): void {
  const migrations = [...new Set(snapshots.map(({ migrationId }) => migrationId))];
  const newest = migrations.map((migrationId) =>
    place(snapshots.findLast((each) => each.migrationId === migrationId)!),
  );
  check('newest snapshots', views.read({ kind: 'newest snapshots' }).map(place), newest);
  migrations.forEach((migrationId, i) => {
    const given = views.read({ kind: 'snapshot', snapshot: newestOf(BigInt(migrationId)) });
    check(`newest of ${migrationId}`, place(given), newest[i]);
  });
  const last = views.read({ kind: 'snapshot', snapshot: newestOf(null) });
  check(
    'newest of the largest migration',
    place(last),
    newest.find((each) => each?.migrationId === lastMigration) ?? null,
  );
}

/** Look-ups at a snapshot's own time and a microsecond from it, in its migration and the neighbouring numbers. */
function checkLookups(check: Check, views: FactsReader, expected: Oracle, wanted: OracleSnapshot): void {
  for (const migrationId of [wanted.migrationId - 1, wanted.migrationId, wanted.migrationId + 1]) {
    for (const recordTime of [wanted.recordTime - 1, wanted.recordTime, wanted.recordTime + 1]) {
      const query = { migrationId, recordTime };
      const wide = { migrationId: BigInt(migrationId), recordTime: BigInt(recordTime) };
      const name = `${migrationId} at ${shortTime(recordTime)}`;
      for (const match of ['exact', 'at_or_before'] as const) {
        const given = place(views.read({ kind: 'snapshot', snapshot: { ...wide, match } }));
        check(`${match} ${name}`, given, place(snapshotAt(expected, { ...query, match })));
      }
      check(
        `after ${name}`,
        place(views.read({ kind: 'snapshot after', ...wide })),
        place(snapshotAfter(expected, query)),
      );
    }
  }
}

interface Compared {
  readonly wanted: OracleSnapshot;
  /** Every decisive round and several page sizes, not a few of them. */
  readonly inFull: boolean;
}

function checkSnapshot(check: Check, views: FactsReader, { wanted, inFull }: Compared): void {
  const owners = ownersOf(wanted);
  const at = `${wanted.migrationId} ${shortTime(wanted.recordTime)}`;
  const all = decisiveRounds(wanted);
  const stride = inFull ? 1 : Math.ceil(all.length / ROUNDS_MAX);
  for (const { party, unlocked, locked } of ownersAt(views, exactly(wanted), [...owners, STRANGER], null).owners) {
    check(`totals ${at} ${party}`, { unlocked: unlocked.amount, locked: locked.amount }, totalsOf(wanted, party));
    check(`holds ${at} ${party}`, unlocked.count + locked.count > 0, party !== STRANGER);
  }
  for (const round of all.filter((_, i) => i % stride === 0)) {
    for (const party of [...owners, STRANGER]) {
      const fees = feesOf(wanted, party, round);
      const read = (budget: { rows: number }): UnlockedLocked => {
        const lookup = { kind: 'owners', snapshot: exactly(wanted), owners: [party], round } as const;
        return holdingFees(views.read(lookup, budget).owners[0]!, round);
      };
      check(`fees ${at} ${party} ${round}`, read({ rows: Infinity }), fees);
      checkBounded(check, read, fees);
    }
  }
  for (const size of inFull ? PAGE_SIZES : [PAGE_SIZE_USUAL]) {
    const { items, tokens } = walkPages(check, views, wanted, { parties: [STRANGER, ...owners, ...owners], size });
    check(`state ${at} by ${size}`, asAnswered(items), asAnswered(stateV1(wanted, owners)));
    if (size === 1) checkTokens(check, views, { wanted, tokens });
  }
}

function pageAt(
  views: FactsReader,
  wanted: OracleSnapshot,
  { parties, after, size }: { parties: readonly string[]; after: bigint | null; size: number },
): Extract<PageFacts, { found: 'page' }> | null {
  const lookup = { kind: 'page', snapshot: exactly(wanted), owners: parties, after, pageSize: size } as const;
  const facts = views.read(lookup);
  if (facts.found === 'page') return facts;
  if (facts.found !== 'no such token') throw new Error(`a page of ${size}: ${facts.found}`);
  return null;
}

/** Every item over all pages, and the token after each page but the last. */
function walkPages(
  check: Check,
  views: FactsReader,
  wanted: OracleSnapshot,
  { parties, size }: { parties: readonly string[]; size: number },
): { items: unknown[]; tokens: bigint[] } {
  const items: unknown[] = [];
  const tokens: bigint[] = [];
  for (;;) {
    const page = pageAt(views, wanted, { parties, after: tokens.at(-1) ?? null, size });
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
  views: FactsReader,
  { wanted, tokens }: { wanted: OracleSnapshot; tokens: readonly bigint[] },
): void {
  const coins = ordered(wanted, ownersOf(wanted)).map(({ contract }) => contract.contractId);
  const some = ownersOf(wanted).filter((_, i) => i % 2 === 0);
  const someCoins = new Set(ordered(wanted, some).map(({ contract }) => contract.contractId));
  tokens.forEach((after, i) => {
    const page = pageAt(views, wanted, { parties: some, after, size: 3 });
    const behind = coins.slice(i + 1).filter((id) => someCoins.has(id));
    const given = page?.contracts.map(({ contractId }) => contractId);
    check(`page of some owners behind ${coins[i]}`, given, behind.slice(0, 3));
  });
  const known = new Set(tokens);
  const last = pageAt(views, wanted, { parties: ownersOf(wanted), after: tokens.at(-1) ?? null, size: 1000 });
  check('the last page has no token', last?.next, null);
  const highest = [...known].reduce((most, token) => (token > most ? token : most), 0n);
  for (const after of [-1n, 0n, highest + 1_000_000n, 2n ** 63n - 1n]) {
    check(`token ${after} is refused`, pageAt(views, wanted, { parties: some, after, size: 3 }), null);
  }
}

/** As JSON says it: the views keep each number of a payload as the text that came. */
function asAnswered(items: unknown): unknown {
  return JSON.parse(JSON.stringify(items));
}

/** As the oracle prints an item of state. */
function itemOf(contract: ContractFacts): Record<string, unknown> {
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
function checkBounded(check: Check, read: (budget: { rows: number }) => UnlockedLocked, fees: UnlockedLocked): void {
  const bounded = (budget: { rows: number }): UnlockedLocked | null => {
    try {
      return read(budget);
    } catch (error) {
      if (error !== NOT_BOUNDED) throw error;
      return null;
    }
  };
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
