import type { Logger } from 'pino';
import { counted } from '../counted.ts';
import type {
  FactKind,
  Facts,
  HoldingsStore,
  ListedOwnersLookup,
  Lookup,
  PartyTotals,
  Ranking,
  SealedMigration,
  SnapshotPlace,
} from '../holdings/facts.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import type { InstrumentName } from '../holdings/instrument.ts';
import { LastComputed } from '../holdings/last-computed.ts';
import { COIN_INSTRUMENT } from '../ledger/templates.ts';
import { FLAT_MIGRATION_MAX, type Micros } from '../ledger/time.ts';
import { describeServer, type PostgresSettings } from './postgres-settings.ts';
import { type Ask, openPool } from './statement-pool.ts';
import {
  createChangesReader,
  createContractPages,
  createOwnersReader,
  createSnapshotReader,
  type SnapshotReader,
  type StoredSnapshot,
  TOTALS,
} from './store-facts.ts';
import { formProblem, SELECT_SETTING } from './store-form.ts';

export type PostgresStore = ReturnType<typeof openPostgresStore>;

export interface StoreStanding {
  readonly dso: string;
  readonly unsealed: number;
  readonly faults: number;
  readonly late: number;
  /** What stops a migration, for a person. */
  readonly contradictions: readonly string[];
  /** The time of the snapshot import of the newest migration that began with one; null for none. */
  readonly importedAt: Micros | null;
}

interface Setting {
  /** UUID of the store. Changes when the database is made again. */
  readonly store: string;
  readonly dso: string;
  readonly periodUs: number;
}

const LIMITS = {
  /** A server takes about a hundred connections in all, for any number of processes. */
  connections: 8,
  /** As long as a reader thread of a data directory may read. */
  readMsMax: 10_000,
  waitMsMax: 10_000,
  /** How long the health of a process may take. */
  ownMsMax: 5_000,
};
/** `logger`: for the reason why the store is not available, which no client sees. */
export type StoreOptions = Partial<typeof LIMITS> & { readonly logger?: Pick<Logger, 'warn'> };

/** Connections for what this process asks for itself: its health, streams and metrics. */
const OWN_CONNECTIONS = 2;
/** How long a setting that was read is taken for that of the store. */
const SETTING_MS_MAX = 1_000;
/** While the store is away every statement fails. */
const WARN_AGAIN_MS = 60_000;

/** A store in PostgreSQL. It need not be there when it is opened. */
export function openPostgresStore(settings: PostgresSettings, options: StoreOptions = {}) {
  const { connections, readMsMax, waitMsMax, ownMsMax } = { ...LIMITS, ...options };
  const pool = openPool(settings, {
    connections,
    statementMsMax: readMsMax,
    waitMsMax,
    unavailable(error) {
      warn(error);
      return 'the store is not available for now; /readyz or the log says why';
    },
  });
  const own = openPool(settings, {
    connections: OWN_CONNECTIONS,
    statementMsMax: ownMsMax,
    waitMsMax: ownMsMax,
    unavailable: ({ message }) => `${describeServer(settings)} is not available: ${message}`,
  });
  const rankings = new LastComputed<Ranking>(({ total }) => 3 * total.byteLength);
  let known: { readonly setting: Setting; readonly untilMs: number } | null = null;
  let warnedMs = Number.NEGATIVE_INFINITY;

  /** The first failure is logged, and while there are more, one of them a minute. */
  function warn(error: Error): void {
    if (performance.now() - warnedMs < WARN_AGAIN_MS) return;
    warnedMs = performance.now();
    options.logger?.warn({ err: error }, 'the store was not available for a client');
  }

  /** Of a store it never changes, but somebody may make another one at the same place. */
  async function settingOf(ask: Ask, asOf: 'now' | 'lately' = 'lately'): Promise<Setting> {
    if (asOf === 'lately' && known !== null && performance.now() < known.untilMs) return known.setting;
    const untilMs = performance.now() + SETTING_MS_MAX;
    const [setting] = await ask<Setting & { version: number }>(SELECT_SETTING);
    const problem = formProblem(setting!.version);
    if (problem !== null) throw new HoldingsFault('store_unavailable', problem);
    known = { setting: setting!, untilMs };
    return setting!;
  }

  /** Others may wait for the same, so it is computed for no client. */
  const ranked = ({ store }: Setting, { migrationId, seq }: StoredSnapshot): Promise<Ranking> =>
    rankings.of(`${store} ${migrationId} ${seq}`, () => rank(pool.asker(), migrationId, seq));

  const storeOf = (ask: Ask): HoldingsStore => ({
    async facts<K extends FactKind>(lookup: Lookup<K>): Promise<Facts<K>> {
      return createReaders(ask, await settingOf(ask), ranked)[lookup.kind](lookup);
    },
  });

  return {
    facts: storeOf(own.asker()).facts,
    /** The same for a client, who may go. */
    for: (signal?: AbortSignal): HoldingsStore => storeOf(pool.asker(signal)),
    load: pool.load,
    /** How much of what the engine has written is not sealed, and why. */
    async standing(): Promise<StoreStanding> {
      const ask = own.asker();
      const { dso } = await settingOf(ask, 'now');
      const [standing] = await ask<Omit<StoreStanding, 'dso'>>(STANDING);
      return { dso, ...standing! };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([pool[Symbol.asyncDispose](), own[Symbol.asyncDispose]()]);
    },
  };
}

/** One row. Of every number that a migration may have, the last link is looked up: there may be a million rows. */
const STANDING = `SELECT
  (SELECT COALESCE(sum(last - COALESCE(last_link, 0)), 0)::bigint FROM generate_series(0, ${FLAT_MIGRATION_MAX}) m
    CROSS JOIN LATERAL (SELECT max(link) AS last FROM snapshot_control WHERE migration_id = m) c
    LEFT JOIN sealed s ON s.migration_id = m WHERE last IS NOT NULL) AS unsealed,
  (SELECT count(*) FROM fault) AS faults, (SELECT count(*) FROM late) AS late,
  ARRAY(SELECT format('interval %s of migration %s: %s', seq, migration_id, reason) FROM contradiction ORDER BY migration_id)
    AS contradictions,
  (SELECT seeded_at FROM sealed WHERE seeded_at > 0 ORDER BY migration_id DESC LIMIT 1) AS "importedAt"`;

/** What keeps intervals from being sealed until somebody decides, for a person. */
export function sealingStops({
  faults,
  late,
  contradictions,
}: Pick<StoreStanding, 'faults' | 'late' | 'contradictions'>): string[] {
  return [
    ...(faults > 0 ? [`${counted(faults, 'event')} in table fault: no interval is sealed from there on`] : []),
    ...(late > 0 ? [`${counted(late, 'event')} in table late: nothing more of their migration is sealed`] : []),
    ...contradictions.map((each) => `${each}: nothing more of this migration is sealed`),
  ];
}

type Readers = { readonly [K in FactKind]: (lookup: Lookup<K>) => Promise<Facts<K>> };

function createReaders(
  ask: Ask,
  setting: Setting,
  ranked: (setting: Setting, snapshot: StoredSnapshot) => Promise<Ranking>,
): Readers {
  const { dso, periodUs } = setting;
  const snapshots = createSnapshotReader(ask, periodUs);
  const changes = createChangesReader(ask, periodUs);
  const requireSnapshot = async ({ migrationId, recordTime }: SnapshotPlace): Promise<StoredSnapshot> => {
    const choice = { migrationId: BigInt(migrationId), recordTime: BigInt(recordTime), match: 'exact' } as const;
    const found = await snapshots.find(choice);
    if (found === null) throw new Error(`migration ${migrationId} has no snapshot at ${recordTime}`);
    return found;
  };
  return {
    snapshot: ({ snapshot }) => snapshots.find(snapshot),
    'snapshot after': (lookup) => snapshots.after(lookup),
    'newest snapshots': () => snapshots.newest(),
    snapshots: () => snapshots.all(),
    'last migration': () => snapshots.lastMigration(),
    dso: async () => dso,
    // The events are of all owners.
    followed: async () => ({ isLimited: false, others: [] }),
    owners: createOwnersReader(ask, snapshots),
    page: createContractPages(ask, snapshots, dso),
    migration: ({ migrationId }) => findMigration(ask, snapshots, migrationId, { dso, periodUs }),
    'listed snapshots': ({ migrationId, from, to, every, order, rows }) =>
      snapshots.rows(
        `WHERE migration_id = $1 AND seq * $2::bigint BETWEEN $3::bigint AND $4::bigint AND seq * $2::bigint % $5::bigint = 0
         ORDER BY seq ${order} LIMIT $6`,
        [migrationId, periodUs, from, to, every ?? periodUs, rows],
      ),
    changes: (lookup) => changes.changes(lookup),
    instrument: async () => 'no tokens',
    async instruments({ after, ...lookup }) {
      const { migrationId, seq, ...supply } = await requireSnapshot(lookup);
      const held = await snapshots.first('WHERE migration_id = $1 AND seq <= $2 AND coins > 0', [migrationId, seq]);
      return held === null ? [] : coinBehind(after, dso).map((coin) => ({ ...coin, ...supply, scope: 'network' }));
    },
    async 'instruments of owner'({ party, after, ...lookup }) {
      const { migrationId, seq } = await requireSnapshot(lookup);
      const from = { ...lookup, migrationId, prefix: party, after: null, rows: 1 };
      const [owner] = (await listOwners(ask, from, seq)).filter((each) => each.party === party);
      if (owner === undefined) return [];
      const accounts = [{ ...owner, provider: null, accountId: '' }];
      return coinBehind(after, dso).map((coin) => ({ ...coin, ...owner, accounts, accountsTotal: 1 }));
    },
    'listed owners': async (lookup) => listOwners(ask, lookup, (await requireSnapshot(lookup)).seq),
    ranking: async (lookup) => ranked(setting, await requireSnapshot(lookup)),
    'owners containing': async ({ migrationId, text }) => {
      const rows = await ask<{ no: number }>(
        'SELECT DISTINCT no FROM owner_total WHERE migration_id = $1 AND position($2 in lower(owner)) > 0 ORDER BY no',
        [migrationId, text],
      );
      return rows.map(({ no }) => no);
    },
    'numbered owners': ({ owners }) =>
      ask<PartyTotals>(
        `SELECT owner AS party, ${TOTALS} FROM unnest($1::bigint[]) WITH ORDINALITY AS w(no, place) JOIN owner_total USING (no)
         ORDER BY place`,
        [owners],
      ),
    'last sealed': () => snapshots.first('ORDER BY no DESC'),
    'sealed snapshot': (place) => snapshots.find({ ...place, match: 'exact' }),
    async 'time passed'({ migrationId, recordTime }) {
      const newest = await snapshots.find({ migrationId, recordTime: null, match: 'exact' });
      if (newest !== null) return BigInt(newest.recordTime) >= recordTime;
      return migrationId <= BigInt((await snapshots.lastMigration()) ?? -1);
    },
    'sealed snapshots': ({ after, until, rows }) =>
      snapshots.rows('WHERE no > $1 AND no <= $2 ORDER BY no LIMIT $3', [after, until, rows]),
    async 'sealed migrations'({ after, before }) {
      const rows = await ask<{ migration_id: number }>(
        'SELECT DISTINCT migration_id FROM snapshot WHERE no > $1 AND no < $2 ORDER BY 1',
        [after, before],
      );
      return rows.map(({ migration_id }) => migration_id);
    },
    'changes of owners': (lookup) => changes.ofOwners(lookup),
    'update history': notKept('what moved between them'),
    movements: notKept('what moved between them'),
    'last update': notKept('what moved between them'),
    'moved owners': notKept('what moved between them'),
    'movements of owners': notKept('what moved between them'),
    // So the id of a movement is unknown here.
    'movement place': async () => null,
    balance: notKept('what moved between them'),
    balances: notKept('what moved between them'),
    statement: notKept('what moved between them'),
    unreadable: notKept('holdings of tokens'),
    found: notKept('what moved between them'),
    locks: notKept('the order in which locked coins unlock'),
  };
}

/** The only instrument of such a store, where it is behind that one. */
function coinBehind(after: InstrumentName | null, dso: string): readonly InstrumentName[] {
  const isBehind = after === null || after.admin < dso || (after.admin === dso && after.id < COIN_INSTRUMENT);
  return isBehind ? [{ admin: dso, id: COIN_INSTRUMENT }] : [];
}

const notKept = (what: string) => async (): Promise<never> => {
  throw new HoldingsFault('not_kept', `not kept by this store: it has totals of snapshots, not ${what}`);
};

/** PostgreSQL orders the owners with coin at a snapshot; their numbers are those of their rows, which never change. */
async function rank(ask: Ask, migrationId: number, seq: number): Promise<Ranking> {
  const orderBy = (amount: string): string =>
    `(SELECT COALESCE(string_agg(int4send(no::int), ''::bytea ORDER BY ${amount} DESC, owner), ''::bytea) FROM owners)`;
  const [row] = await ask<Readonly<Record<keyof Ranking, Buffer>>>(
    `WITH owners AS MATERIALIZED (SELECT * FROM (
       SELECT DISTINCT ON (owner) owner, no, ${TOTALS} FROM owner_total
       WHERE migration_id = $1 AND seq <= $2 ORDER BY owner, seq DESC) newest WHERE contracts > 0)
     SELECT ${orderBy('unlocked + locked')} AS total, ${orderBy('unlocked')} AS unlocked, ${orderBy('locked')} AS locked`,
    [migrationId, seq],
  );
  const { total, unlocked, locked } = row!;
  return { total: numbersIn(total), unlocked: numbersIn(unlocked), locked: numbersIn(locked) };
}

/** Numbers of four bytes each, as PostgreSQL sends them. */
function numbersIn(bytes: Buffer): Uint32Array {
  const own = Buffer.from(bytes).swap32();
  return new Uint32Array(own.buffer.slice(own.byteOffset, own.byteOffset + own.length));
}

async function findMigration(
  ask: Ask,
  snapshots: SnapshotReader,
  wanted: bigint | null,
  { dso, periodUs }: Pick<Setting, 'dso' | 'periodUs'>,
): Promise<SealedMigration | null> {
  const which = 'COALESCE($1::bigint, (SELECT max(migration_id) FROM snapshot))';
  const newest = await snapshots.first(`WHERE migration_id = ${which} ORDER BY seq DESC`, [wanted]);
  if (newest === null) return null;
  const { migrationId } = newest;
  const oldest = await snapshots.first('WHERE migration_id = $1 ORDER BY seq', [migrationId]);
  const [sealed] = await ask<Pick<SealedMigration, 'importedAt'>>(
    'SELECT seeded_at AS "importedAt" FROM sealed WHERE migration_id = $1',
    [migrationId],
  );
  return { migrationId, periodUs, dso, ...sealed!, movementsSince: null, oldest: oldest!, newest };
}

/** Who had coin at a snapshot; coin that was gone before the first one was in none. */
function listOwners(
  ask: Ask,
  { migrationId, prefix, after, rows }: ListedOwnersLookup,
  seq: number,
): Promise<readonly PartyTotals[]> {
  return ask(
    `SELECT w.owner AS party, ${TOTALS} FROM (
       SELECT DISTINCT owner FROM owner_total o JOIN sealed s USING (migration_id)
       WHERE migration_id = $1 AND o.owner >= $2 AND starts_with(o.owner, $2) AND ($3::text IS NULL OR o.owner > $3) AND o.seq <= $4
         AND u_coins + l_coins > 0 AND (o.seq >= s.first_seq OR NOT EXISTS (SELECT FROM owner_total n
           WHERE n.migration_id = $1 AND n.owner = o.owner AND n.seq > o.seq AND n.seq <= s.first_seq))
       ORDER BY owner LIMIT $5) w
     CROSS JOIN LATERAL (SELECT * FROM owner_total t WHERE t.migration_id = $1 AND t.owner = w.owner AND t.seq <= $4
       ORDER BY t.seq DESC LIMIT 1) t ORDER BY w.owner`,
    [migrationId, prefix, after, seq, rows],
  );
}
