import { z } from 'zod';
import { fetchFailure, readBounded } from '../bounded-fetch.ts';
import type { HoldingsStore, Order, Snapshot } from '../holdings/facts.ts';
import { isObject, jsonOrNull } from '../json/untrusted.ts';
import { formatDuration, parseDuration } from '../ledger/duration.ts';
import { formatTime, LEDGER_TIME_MAX, LEDGER_TIME_MIN, type Micros, parseLedgerTime } from '../ledger/time.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';

/** The most that a page over HTTP may have: some 400 kB. */
const DIGESTS_AT_ONCE = 1_000;

/** The digests of a directory: our own, or that of another Holdfast. */
export interface Replica {
  /** Null where it has no snapshot of that migration. */
  migration(migrationId: number): Promise<Migration | null>;
  /** Those of the first snapshots on the grid in that order, at most so many, within a range of times that has all of them. */
  digests(of: Migration, choice: Range & { order: Order; rows: number }): Promise<readonly Digests[]>;
}

interface Migration {
  readonly migrationId: number;
  readonly periodUs: number;
  /** Null while no coin is known. */
  readonly dso: string | null;
}

/** The digests of one migration. */
interface Chain extends Migration {
  /** The times of its first and its newest snapshot on the grid. */
  readonly first: Micros;
  readonly newest: Micros;
}

/** Both inclusive. */
interface Range {
  readonly from: Micros;
  readonly to: Micros;
}

interface Digests {
  readonly recordTime: Micros;
  readonly changes_digest: string;
  readonly digest: string;
  /** Null before the chain of the tokens begins. */
  readonly tokens_changes_digest: string | null;
  readonly tokens_digest: string | null;
}

/** Our own directory. */
export function ownReplica(store: HoldingsStore): Replica {
  return {
    migration: (migrationId) => store.facts({ kind: 'migration', migrationId: BigInt(migrationId) }),
    async digests({ migrationId, periodUs }, choice) {
      const found = await store.facts({ kind: 'listed snapshots', migrationId, every: periodUs, ...choice });
      return found.map(digestsOf);
    },
  };
}

function digestsOf({ recordTime, changesDigest, digest, tokensChangesDigest, tokensDigest }: Snapshot): Digests {
  if (changesDigest !== null && digest !== null)
    return {
      ...{ recordTime, changes_digest: changesDigest, digest },
      ...{ tokens_changes_digest: tokensChangesDigest, tokens_digest: tokensDigest },
    };
  throw new Error(`the snapshot at ${recordTime} is on the grid and has no digest; run \`holdfast verify\``);
}

/** Of one migration that both have. */
export interface Compared extends Range {
  readonly migrationId: number;
  /** The number of snapshots. */
  readonly compared: number;
  readonly firstDifferent: Micros | null;
  /** By `digest` everything since the first snapshot is compared, by `changes_digest` what changed in these intervals alone. */
  readonly by: Exclude<keyof Digests, 'recordTime'>;
  /** The snapshot with which the later chain begins, which has everything in it and so is left out; null where there is none. */
  readonly leftOut: { readonly recordTime: Micros; readonly of: 'own' | 'other' } | null;
}

/** What to compare; null: as much as both have. */
export interface Wanted {
  readonly from: Micros | null;
  readonly to: Micros | null;
  /** Only what is behind a snapshot that is compared already. */
  readonly after?: Micros | null;
  /** The chain of the tokens, instead of that of the coin. */
  readonly ofTokens?: boolean;
}

/** Compares a migration over the times that both have; null where there are none, a text where they cannot be compared. */
export async function compareMigration(
  replicas: { readonly own: Replica; readonly other: Replica },
  migrationId: number,
  wanted: Wanted,
): Promise<Compared | string | null> {
  const own = await chainOf(replicas.own, migrationId);
  const other = own === null || own.newest === wanted.after ? null : await chainOf(replicas.other, migrationId);
  if (own === null || other === null) return null;
  const { periodUs } = own;
  if (periodUs !== other.periodUs)
    return `other snapshot period: ${formatDuration(periodUs)} here, ${formatDuration(other.periodUs)} there`;
  if (own.dso !== null && other.dso !== null && own.dso !== other.dso)
    return `other DSO: ${own.dso} here, ${other.dso} there`;
  const ofTokens = wanted.ofTokens === true;
  const ownBegin = ofTokens ? await firstWithTokens(replicas.own, own) : own.first;
  const otherBegin = ofTokens ? await firstWithTokens(replicas.other, other) : other.first;
  if (ownBegin === null || otherBegin === null) return `no tokens ${ownBegin === null ? 'here' : 'there'}`;
  const begin = Math.max(ownBegin, otherBegin);
  const isBehind = wanted.from !== null && wanted.from > begin;
  const isOneStart = ownBegin === otherBegin;
  const later = ownBegin === begin ? 'own' : 'other';
  // Tokens that came later are no more than what changed.
  const hasAll = begin === (later === 'own' ? own.first : other.first);
  const leftOut = isOneStart || isBehind || !hasAll ? null : ({ recordTime: begin, of: later } as const);
  const first = isBehind ? Math.ceil(wanted.from! / periodUs) * periodUs : begin + (leftOut === null ? 0 : periodUs);
  const from = Math.max(first, (wanted.after ?? -Infinity) + periodUs);
  const to = Math.min(own.newest, other.newest, wanted.to ?? Infinity);
  const isWhole = isOneStart && wanted.from === null;
  const name = isWhole ? 'digest' : 'changes_digest';
  const by = ofTokens ? (`tokens_${name}` as const) : name;
  let compared = 0;
  let last = from - 1;
  let firstDifferent: Micros | null = null;
  for (let rows = DIGESTS_AT_ONCE; rows === DIGESTS_AT_ONCE && last < to; ) {
    const choice = { from: last + 1, to, order: 'asc', rows } as const;
    const ours = await replicas.own.digests(own, choice);
    const theirs = await replicas.other.digests(other, choice);
    for (const [i, mine] of ours.entries()) {
      if (theirs[i]?.recordTime !== mine.recordTime) throw new Error(missing(mine, theirs[i]));
      if (mine[by] !== theirs[i][by]) firstDifferent ??= mine.recordTime;
      last = mine.recordTime;
    }
    compared += ours.length;
    rows = ours.length;
  }
  if (compared === 0) return null;
  return { migrationId, from, to: last, compared, firstDifferent, by, leftOut };
}

/** The time of the snapshot at which the chain of the tokens begins: all after it have a digest of them, and none before. */
async function firstWithTokens(replica: Replica, chain: Chain): Promise<Micros | null> {
  const has = async (time: Micros): Promise<boolean> => {
    const [found] = await replica.digests(chain, { from: time, to: time, order: 'asc', rows: 1 });
    return found !== undefined && found.tokens_digest !== null;
  };
  if (!(await has(chain.newest))) return null;
  let [low, high] = [chain.first, chain.newest];
  while (low < high) {
    const middle = low + Math.floor((high - low) / chain.periodUs / 2) * chain.periodUs;
    if (await has(middle)) high = middle;
    else low = middle + chain.periodUs;
  }
  return low;
}

/** Null where it has no snapshot of that migration on the grid. */
async function chainOf(replica: Replica, migrationId: number): Promise<Chain | null> {
  const migration = await replica.migration(migrationId);
  if (migration === null) return null;
  const ever = { from: LEDGER_TIME_MIN, to: LEDGER_TIME_MAX, rows: 1 };
  const [first] = await replica.digests(migration, { ...ever, order: 'asc' });
  const [newest] = await replica.digests(migration, { ...ever, order: 'desc' });
  if (first === undefined || newest === undefined) return null;
  return { ...migration, first: first.recordTime, newest: newest.recordTime };
}

function missing({ recordTime }: Digests, theirs: Digests | undefined): string {
  const given = theirs === undefined ? 'none' : `one at ${formatTime(theirs.recordTime)}`;
  return `the other's snapshots have a gap: given ${given}, expected one at ${formatTime(recordTime)}`;
}

const BYTES_MAX = 4 * 2 ** 20;
/** For one page, its body included. */
const TIMEOUT_MS = 30_000;

const time = z
  .string()
  .transform((text) => parseLedgerTime(text) ?? Number.NaN)
  .pipe(z.number('expected a time'));
const digest = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits');

const HEAD = z.object({ period: z.string(), dso: z.string().nullable() });
const PAGE = z.object({
  snapshots: z
    .array(
      z.object({
        record_time: time,
        changes_digest: digest,
        digest,
        // An older version has none.
        tokens_changes_digest: digest.nullable().default(null),
        tokens_digest: digest.nullable().default(null),
      }),
    )
    .max(DIGESTS_AT_ONCE),
});

/** Another Holdfast, read over HTTP until `stop`. What it does not answer, or not as expected, is an error that says so. */
export function otherReplica(
  base: URL,
  { stop, timeoutMs = TIMEOUT_MS, key }: AskOptions & { readonly timeoutMs?: number },
): Replica {
  const ask = <Answer>(query: Readonly<Record<string, string>>, schema: z.ZodType<Answer>): Promise<Answer | null> =>
    fetchAnswer(snapshotsUrl(base, query), schema, {
      stop: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]),
      key,
    });
  return {
    async migration(migrationId) {
      const head = await ask({ migration_id: String(migrationId), limit: '1' }, HEAD);
      if (head === null) return null;
      const { period, dso } = head;
      const periodUs = parseDuration(period);
      if (periodUs === null) throw new Error(`${base}: period: given ${showGiven(period)}, expected a duration`);
      return { migrationId, periodUs, dso };
    },
    async digests({ migrationId, periodUs }, { from, to, order, rows }) {
      const about = { migration_id: String(migrationId), every: formatDuration(periodUs) };
      const range = { from: formatTime(from), to: formatTime(to), order, limit: String(rows) };
      const { snapshots } = (await ask({ ...about, ...range }, PAGE)) ?? { snapshots: [] };
      return snapshots.map(({ record_time: recordTime, ...digests }) => ({ recordTime, ...digests }));
    },
  };
}

function snapshotsUrl(base: URL, query: Readonly<Record<string, string>>): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/holdfast/v1/snapshots`;
  url.search = new URLSearchParams(query).toString();
  return url;
}

/** Null where it has no snapshot of the migration. Throws for everything but such an answer. */
async function fetchAnswer<Answer>(url: URL, schema: z.ZodType<Answer>, options: AskOptions): Promise<Answer | null> {
  const { status, answer } = await askHoldfast(url, options);
  const error = isObject(answer) && 'error' in answer ? String(answer.error) : null;
  if (status === 404 && error?.startsWith('No snapshots found') === true) return null;
  if (status !== 200) {
    const said = error === null ? '' : ` (${showGiven(error)})`;
    throw new Error(`${url}: given status ${status}${said}, expected the snapshots of a Holdfast`);
  }
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue!.path.length === 0 ? 'the answer' : issue!.path.join('.');
  throw new Error(`${url}: ${field}: ${issue!.message}; is it a Holdfast of this version?`);
}

interface AskOptions {
  readonly stop: AbortSignal;
  /** The API key of the service: commands have it of HOLDFAST_API_KEY, and peers are sent none. */
  readonly key?: string | null | undefined;
}

/** GETs JSON of another process, or POSTs a question; null for a body that is none. Throws an error of one line that names the address. */
export async function askHoldfast(
  url: URL,
  { stop: signal, key }: AskOptions,
  question?: object,
): Promise<{ status: number; answer: unknown }> {
  const type = 'application/json';
  const headers = { accept: type, 'content-type': type, ...(key && { authorization: `Bearer ${key}` }) };
  const posted = question && { method: 'POST', body: JSON.stringify(question) };
  try {
    const { status, body } = await fetch(url, { redirect: 'error', signal, headers, ...posted });
    const bytes = await readBounded(body, BYTES_MAX);
    if (bytes === null) throw new Error(`the answer is larger than ${BYTES_MAX} bytes`);
    if (status !== 401) return { status, answer: jsonOrNull(bytes.toString()) };
  } catch (error) {
    throw new Error(`${url}: no answer of a Holdfast (${fetchFailure(error)})`, { cause: error });
  }
  const given = key === undefined ? 'none, as to any peer' : key === null ? 'none' : 'another';
  throw new Refusal(`${url}: asks for an API key: given ${given}, expected one that it knows in HOLDFAST_API_KEY`);
}
