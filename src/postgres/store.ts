import type { Asker } from '../holdings/answer.ts';
import type {
  FactKind,
  Facts,
  HoldingsStore,
  ListedOwnersLookup,
  Lookup,
  PartyTotals,
  SealedMigration,
  SnapshotPlace,
} from '../holdings/facts.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import { createChangesReader, TOTALS } from './changes.ts';
import { formProblem, SELECT_SETTING } from './migrate.ts';
import { createOwnersReader } from './owners.ts';
import { createPageReader } from './page.ts';
import { type Ask, openPool, type PoolOptions } from './pool.ts';
import { type Asks, createRankings, type Rankings } from './rankings.ts';
import type { PostgresSettings } from './settings.ts';
import { createSnapshotReader, type SnapshotReader, type StoredSnapshot } from './snapshots.ts';
import { STANDING, type StoreStanding } from './standing.ts';
import { createTurns, type PoolLoad } from './turns.ts';

/** A store in PostgreSQL. It need not be there when it is opened. */
export interface PostgresStore extends HoldingsStore, AsyncDisposable {
  /** The same for a client, who may go. */
  for(asker: Asker): HoldingsStore;
  /** Statements of clients that run, and those that wait for a connection. */
  load(): PoolLoad;
  /** How much of what the engine has written is not sealed, and why. */
  standing(): Promise<StoreStanding & { readonly dso: string }>;
}

interface Setting {
  /** Another store at the same place has another one. */
  readonly store: string;
  readonly dso: string;
  readonly periodUs: number;
}

interface StoreOptions extends Pick<PoolOptions, 'logger'> {
  readonly places?: number;
  readonly readMsMax?: number;
  readonly ownMsMax?: number;
}

/** A server takes about a hundred connections in all, for any number of processes. */
const PLACES = 8;
/** Passes over all owners at a time, for rankings. A client has one fewer at most: that keeps a processor of the server busy. */
const PASSES = 2;
/** As long as a reader thread of a data directory may read. */
const READ_MS_MAX = 10_000;
/** Whoever asks for the health of a process does not wait long. */
const OWN_MS_MAX = 5_000;
/** How long a setting that was read is taken for that of the store. */
const SETTING_MS_MAX = 1_000;

export function openPostgresStore(
  settings: PostgresSettings,
  { places = PLACES, readMsMax = READ_MS_MAX, ownMsMax = OWN_MS_MAX, ...options }: StoreOptions = {},
): PostgresStore {
  const pool = openPool(settings, { ...options, places, isReadOnly: true, statementMsMax: readMsMax, ownMsMax });
  const passes = createTurns({ places: PASSES });
  let rankings = createRankings();
  let known: { readonly setting: Setting; readonly untilMs: number } | null = null;

  /** Of a store it never changes, but somebody may make another one at the same place. */
  async function settingOf(ask: Ask, asOf: 'now' | 'lately' = 'lately'): Promise<Setting> {
    if (asOf === 'lately' && known !== null && performance.now() < known.untilMs) return known.setting;
    const untilMs = performance.now() + SETTING_MS_MAX;
    const setting = await readSetting(ask);
    if (known !== null && known.setting.store !== setting.store) rankings = createRankings();
    known = { setting, untilMs };
    return setting;
  }

  function storeOf(asks: Asks): HoldingsStore {
    return {
      async facts<K extends FactKind>(lookup: Lookup<K>): Promise<Facts<K>> {
        const readers = createReaders(asks, await settingOf(asks.ask), rankings);
        return readers[lookup.kind](lookup);
      },
    };
  }

  /** Others may wait for the same, so it is read even where the client goes. */
  function passFor(client: string): Ask {
    const ask = pool.asker({ client });
    return async (sql, values) => {
      const end = await passes.take({ client });
      try {
        return await ask(sql, values);
      } finally {
        end();
      }
    };
  }

  return {
    facts: (lookup) => storeOf({ ask: pool.own(), pass: pool.own() }).facts(lookup),
    for: (asker) => storeOf({ ask: pool.asker(asker), pass: passFor(asker.client) }),
    load: () => pool.load(),
    async standing() {
      const ask = pool.own();
      const { dso } = await settingOf(ask, 'now');
      const [standing] = await ask<StoreStanding>(STANDING);
      return { dso, ...standing! };
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

async function readSetting(ask: Ask): Promise<Setting> {
  const [setting] = await ask<Setting & { version: number }>(SELECT_SETTING);
  const problem = formProblem(setting!.version);
  if (problem !== null) throw new HoldingsFault('store_unavailable', problem);
  return setting!;
}

type Readers = { readonly [K in FactKind]: (lookup: Lookup<K>) => Promise<Facts<K>> };

function createReaders(asks: Asks, { dso, periodUs }: Setting, rankings: Rankings): Readers {
  const { ask } = asks;
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
    page: createPageReader(ask, { snapshots, dso }),
    migration: ({ migrationId }) => findMigration({ ask, snapshots }, migrationId, { dso, periodUs }),
    'listed snapshots': ({ migrationId, from, to, every, order, rows }) =>
      snapshots.rows(
        `WHERE migration_id = $1 AND seq * $2::bigint BETWEEN $3::bigint AND $4::bigint AND seq * $2::bigint % $5::bigint = 0
         ORDER BY seq ${order} LIMIT $6`,
        [migrationId, periodUs, from, to, every ?? periodUs, rows],
      ),
    changes: (lookup) => changes.changes(lookup),
    'listed owners': async (lookup) => listOwners(ask, lookup, (await requireSnapshot(lookup)).seq),
    ranking: async (place) => rankings.ranking(asks, await requireSnapshot(place)),
    'numbered owners': async (lookup) => rankings.numbered(asks, await requireSnapshot(lookup), lookup.owners),
    'last sealed': () => snapshots.first('ORDER BY no DESC'),
    'sealed place': async (place) => (await snapshots.find({ ...place, match: 'exact' }))?.no ?? null,
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
  };
}

async function findMigration(
  { ask, snapshots }: { ask: Ask; snapshots: SnapshotReader },
  wanted: bigint | null,
  { dso, periodUs }: Pick<Setting, 'dso' | 'periodUs'>,
): Promise<SealedMigration | null> {
  const which = 'COALESCE($1::bigint, (SELECT max(migration_id) FROM snapshot))';
  const newest = await snapshots.first(`WHERE migration_id = ${which} ORDER BY seq DESC`, [wanted]);
  if (newest === null) return null;
  const { migrationId } = newest;
  const oldest = await snapshots.first('WHERE migration_id = $1 ORDER BY seq', [migrationId]);
  const [sealed] = await ask<Pick<SealedMigration, 'seededAt'>>(
    'SELECT seeded_at AS "seededAt" FROM sealed WHERE migration_id = $1',
    [migrationId],
  );
  return { migrationId, periodUs, dso, ...sealed!, oldest: oldest!, newest };
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
