import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { openPostgresStore } from '../../src/scale/postgres-store.ts';
import { migrateStore } from '../../src/scale/store-form.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import { createTopic, type TestTopic } from '../support/kafka/topic.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { type FlinkCluster, type Job, startFlink } from '../support/scale/cluster.ts';
import { taskOf } from '../support/scale/flat-topic.ts';
import type { ReadEvent } from '../support/scale/fold.ts';
import { FLAT_DSO } from '../support/scale/ledgers.ts';
import { startMember } from '../support/scale/members.ts';
import { ODD_CASES, oddCasesIn, oddMessage, oddMessages } from '../support/scale/odd-events.ts';
import { type PostgresServer, startPostgres } from '../support/scale/postgres.ts';
import { plain } from '../support/scale/questions.ts';
import { readCommitted } from '../support/scale/read-committed.ts';
import { expectedTables, storedTexts, textsOf } from '../support/scale/rows.ts';
import { randomWorld } from '../support/scale/world.ts';
import { replayInto } from '../support/views/replayed.ts';

const address = inject('kafka').addresses.plain;
const PARTITIONS = 3;
/** Migrations of events that no decoder makes. */
const ODD = 40;
const STOPPED = 41;
/** Not the usual period. */
const PERIOD_US = 300_000_000;
const WAIT = { timeout: 90_000, interval: 250 };

const world = randomWorld(1, { updates: 250, partitions: PARTITIONS, periodUs: PERIOD_US });
const parts = new AsyncDisposableStack();
let server: PostgresServer;
let client: Awaited<ReturnType<PostgresServer['connect']>>;
let flat: TestTopic;
let flink: FlinkCluster;
let events: ReadEvent[][];
let job: Job;
let jobId: string;

beforeAll(async () => {
  const flinkStarts = startFlink({ slots: 2 });
  server = parts.use(await startPostgres());
  client = parts.use(await server.connect());
  await migrateStore(server.settings(), { dso: FLAT_DSO, periodUs: PERIOD_US });
  await client.query('CREATE ROLE engine LOGIN; GRANT holdfast_writer TO engine');
  const topic = await createTopic(address, { partitions: PARTITIONS });
  await topic.send(world.rows);
  flat = await createTopic(address, { partitions: PARTITIONS });
  const task = { ...taskOf(topic), flat: flat.name, rules: { periodUs: PERIOD_US }, markIntervalMs: 500 };
  {
    await using _first = startMember(task);
    await using _second = startMember(task);
    events = await decoded();
  }
  flink = parts.use(await flinkStarts);
  job = { broker: address, topic: flat.name, store: server.settings('engine'), periodUs: PERIOD_US };
  jobId = await flink.startJob({ ...job, parallelism: 2, checkpointMs: 1_000 });
}, 180_000);
afterAll(() => parts.disposeAsync());

/** All that the decoders wrote, once every partition has its last update. */
function decoded(): Promise<ReadEvent[][]> {
  return vi.waitFor(async () => {
    const messages = await readCommitted(address, flat.name);
    const read = messages.map((each) => each.map(({ value }) => JSON.parse(String(value)) as ReadEvent));
    expect(read.map((each) => each.at(-1)?.t)).toEqual(world.ends);
    return read;
  }, WAIT);
}

describe('updates of a random ledger in partitions at random, decoded and added up by the job', () => {
  it('make the rows of a fold of the events', async () => {
    const expected = expectedTables(events);
    expect(Object.values(expected).filter((rows) => rows.length < 10)).toEqual([]);
    await expect.poll(() => storedTexts(client, expected), WAIT).toEqual(textsOf(expected));
    expect((await client.query('SELECT k FROM fault UNION ALL SELECT k FROM late')).rows).toEqual([]);
  });

  it('make the snapshots of a data directory', async () => {
    await client.query('SELECT seal(10000)');
    await using store = openPostgresStore(server.settings());
    using directory = temporaryDirectory();
    const dataDir = directory.at('views');
    await replayInto(dataDir, [directory.writeLines('feed.ndjson', world.lines)], {
      dso: FLAT_DSO,
      snapshotPeriodUs: PERIOD_US,
    });
    using sqlite = openViewsStore(dataDir);
    const wanted = await sqlite.facts({ kind: 'snapshots' });
    const sealed = await store.facts({ kind: 'snapshots' });
    // A data directory leaves the last interval of a migration open that another one has followed.
    expect(
      sealed
        .filter(({ migrationId, recordTime }) =>
          wanted.some((each) => each.migrationId === migrationId && each.recordTime === recordTime),
        )
        .map(plain),
    ).toEqual(wanted.map(plain));
    expect(sealed.length - wanted.length).toBe(1);
  });
});

describe("events that are no ledger's", () => {
  const at = (minute: number, k: string, cid: string | null = null): string =>
    oddMessage(ODD, PERIOD_US, cid, [k, minute]);
  const ask = async <T>(sql: string): Promise<T[]> =>
    (await client.query({ text: sql, values: [ODD], rowMode: 'array' })).rows as T[];

  it('are faults', async () => {
    const messages = oddMessages(ODD, PERIOD_US).map((value) => ({ partition: 0, value }));
    const closers = world.ends.map((_, partition) => ({ partition, value: at(60, 'M') }));
    await flat.send([...messages, ...closers]);
    const expected = ODD_CASES.map(({ name, counts, faults }) => ({
      name,
      counts,
      faults: [...faults].sort().join(''),
    }));
    await expect.poll(() => oddCasesIn(client, ODD), WAIT).toEqual(expected);
  });

  it('are late behind an interval that is closed, and nothing is sealed past either', async () => {
    const control = `SELECT (first_t IS NULL) || ' ' || faults FROM snapshot_control WHERE migration_id = $1 ORDER BY seq`;
    const faults = ODD_CASES.reduce((sum, each) => sum + each.faults.length, 0);
    // Of the imports, of a time alone, which begins no migration, and of the rest.
    const rows = [['true 0'], ['true 0'], [`false ${faults}`]];
    await expect.poll(() => ask(control), WAIT).toEqual(rows);
    const late = [at(1, 'M'), at(1, 'T'), at(1, 'C', 'a late one'), at(61, 'M')];
    await flat.send(late.map((value) => ({ partition: 1, value })));
    await expect
      .poll(() => ask('SELECT k, contract_id FROM late WHERE migration_id = $1'), WAIT)
      .toEqual([['C', 'a late one']]);
    expect(await ask(control)).toEqual(rows);
    await client.query('SELECT seal(1000)');
    expect(await ask('SELECT last_seq FROM sealed WHERE migration_id = $1 AND last_seq > 0')).toEqual([]);
  });
});

describe('the job, with the tools of Flink', () => {
  const idsOf = async (table: string): Promise<string[]> => {
    const { rows } = await client.query<{ contract_id: string }>(
      `SELECT contract_id FROM ${table} WHERE migration_id = ${STOPPED} ORDER BY 1`,
    );
    return rows.map(({ contract_id }) => contract_id);
  };
  /** Sends events of one minute to the first partition, and to each a time that closes their interval. */
  const send = (minute: number, ...contracts: readonly (readonly [k: string, cid: string])[]): Promise<void> =>
    flat.send([
      ...contracts.map(([k, cid]) => ({ partition: 0, value: oddMessage(STOPPED, PERIOD_US, cid, [k, minute]) })),
      ...world.ends.map((_, partition) => ({
        partition,
        value: oddMessage(STOPPED, PERIOD_US, null, ['M', minute + 10]),
      })),
    ]);

  it('stops with a savepoint, and goes on from it without a gap and with another parallelism', async () => {
    await send(1, ['C', 'kept'], ['C', 'spent before'], ['A', 'spent before']);
    await expect.poll(() => idsOf('coin'), WAIT).toEqual(['kept', 'spent before']);
    const { stdout } = await flink.flink('stop', jobId);
    const [, savepoint] = /Savepoint completed. Path: (\S+)/.exec(stdout)!;
    await send(20, ['A', 'kept'], ['C', 'meanwhile']);
    jobId = await flink.startJob({ ...job, checkpointMs: 3_600_000 }, savepoint);
    await expect.poll(() => idsOf('spent'), WAIT).toEqual(['kept', 'spent before']);
    expect(await idsOf('coin')).toEqual(['kept', 'meanwhile', 'spent before']);
    expect(await idsOf('fault')).toEqual([]);
  });

  it('fails where events are gone that it has not read', async () => {
    await flat.cut(0, -1);
    // It goes back to the savepoint.
    await flat.send([{ partition: 0, value: 'no JSON' }]);
    const exceptions = async (): Promise<string> => (await fetch(`${flink.rest}/v1/jobs/${jobId}/exceptions`)).text();
    await expect.poll(exceptions, WAIT).toMatch(/out of range/);
  });
});
