import type { Random } from '../../test/support/ledger/random.ts';
import { randomLedger } from '../../test/support/ledger/random-ledger.ts';
import { shortTime } from '../../test/support/ledger/wire-text.ts';
import { snapshotAt, snapshotMs, soakLedger } from './ledger.ts';

/** A question about a sealed snapshot: its answer may never change. */
export interface Question {
  readonly path: string;
  /** Null: a GET. */
  readonly body: string | null;
  readonly owner: Owner;
  /** The snapshot's number. */
  readonly at: number;
}

interface Owner {
  readonly party: string;
  /** One of the few with very many coins. */
  readonly large: boolean;
}

/** `deep`: what the design lets grow with the archives since the snapshot, so it is shown and has no bound. */
export type QuestionGroup = 'summary' | 'page' | 'table' | 'deep';

/** Updates at the beginning of the ledger whose owners the requests name. */
const UPDATES_READ = 20_000;
const LARGE_COINS_MIN = 25;
/** Snapshots that are new enough for a large owner's coins to be read as of them. */
const NEW_SNAPSHOTS = 20;
const PAGE_MAX = 20;
const OWNERS_MAX = 5;
const FIRST_ROUND = 19_830;

/** The owners of the ledger's first coins. */
export function ownersOfFeed(seed: number): Owner[] {
  const coins = new Map<string, number>();
  for (const item of randomLedger({ ...soakLedger(seed), updates: UPDATES_READ })) {
    if (item.kind !== 'update') continue;
    for (const root of item.events) {
      for (const event of root.kind === 'exercise' ? root.children : [root]) {
        if (event.kind !== 'create' || event.contract.payload.kind !== 'coin') continue;
        const { owner } = event.contract.payload;
        coins.set(owner, (coins.get(owner) ?? 0) + 1);
      }
    }
  }
  return [...coins].map(([party, count]) => ({ party, large: count >= LARGE_COINS_MIN }));
}

/** Asks about a random owner, every other time a large one, at a random snapshot up to the newest. */
export function drawQuestion(random: Random, owners: readonly Owner[], newestMs: number): Question {
  const owner = pickOwner(random, owners, random.chance(0.5));
  const form = random.pick(['v0', 'v1', 'v1', 'page', 'table'] as const);
  const newest = snapshotAt(newestMs);
  const rarelyDeep = (form === 'v0' || form === 'page') && owner.large && !random.chance(0.05);
  const first = rarelyDeep ? Math.max(0, newest - NEW_SNAPSHOTS) : 0;
  const at = first + random.below(newest - first + 1);
  const others = Array.from({ length: random.below(OWNERS_MAX) }, () => pickOwner(random, owners, false).party);
  const asked = {
    migration_id: 0,
    record_time: shortTime(snapshotMs(at) * 1000),
    owner_party_ids: [owner.party, ...others],
  };
  switch (form) {
    case 'v0':
      return question('/v0/holdings/summary', { owner, at }, { ...asked, as_of_round: roundNear(random, at) });
    case 'v1':
      return question('/v1/holdings/summary', { owner, at }, asked);
    case 'page':
      return question('/v1/holdings/state', { owner, at }, { ...asked, page_size: 1 + random.below(PAGE_MAX) });
    case 'table':
      return { path: table(random, asked.record_time, owner), owner, at, body: null };
  }
}

/** A table of /holdfast/v1 that ends with a sealed snapshot; an order of all owners only now and then: a thread makes it. */
function table(random: Random, to: string, { party }: Owner): string {
  const of = `/holdfast/v1/owners/${encodeURIComponent(party)}`;
  const until = `migration_id=0&to=${to}`;
  if (random.chance(0.02)) return `/holdfast/v1/top?migration_id=0&record_time=${to}&limit=20`;
  return random.pick([
    `/holdfast/v1/snapshots?${until}&limit=20`,
    `${of}/history?${until}`,
    `${of}/changes?${until}&limit=20`,
    `${of}/changes?${until}&order=asc&format=csv`,
  ]);
}

function question(path: string, about: Pick<Question, 'owner' | 'at'>, asked: object): Question {
  return { path, ...about, body: JSON.stringify(asked) };
}

function roundNear(random: Random, at: number): number {
  return FIRST_ROUND + at + random.below(200) - 50;
}

function pickOwner(random: Random, owners: readonly Owner[], large: boolean): Owner {
  for (;;) {
    const owner = random.pick(owners);
    if (owner.large === large) return owner;
  }
}

/** Which promise applies to a question now: a new snapshot grows old. */
export function groupOf({ path, owner, at }: Question, newestMs: number): QuestionGroup {
  if (path.startsWith('/holdfast/v1/')) return path.startsWith('/holdfast/v1/top') ? 'deep' : 'table';
  if (path === '/v1/holdings/summary') return 'summary';
  if (owner.large && at < snapshotAt(newestMs) - NEW_SNAPSHOTS) return 'deep';
  return path === '/v1/holdings/state' ? 'page' : 'summary';
}
