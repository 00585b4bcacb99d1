import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { ENGINE_NAME } from '../../src/flink/parameters.ts';
import { startJob } from '../../src/flink/start.ts';
import { answersFrom } from '../../src/holdings/answer.ts';
import { migrateStore } from '../../src/postgres/migrate.ts';
import type { PostgresSettings } from '../../src/postgres/settings.ts';
import { openPostgresStore } from '../../src/postgres/store.ts';
import type { ReadEvent } from '../support/flat/fold.ts';
import { FLAT_DSO } from '../support/flat/ledgers.ts';
import { taskOf } from '../support/flat-decoder/flat-topic.ts';
import { startMember } from '../support/flat-decoder/members.ts';
import { readCommitted } from '../support/flat-decoder/read-committed.ts';
import { expectEqualAnswers } from '../support/flink/answers.ts';
import { type FlinkCluster, startFlink } from '../support/flink/cluster.ts';
import { jobCommand } from '../support/flink/commands.ts';
import { expectedTables, storedTexts, textsOf } from '../support/flink/compare.ts';
import { ODD_CASES, oddCasesIn, oddMessage, oddMessages } from '../support/flink/odd-events.ts';
import { cutTopic, sendClosed, sendTo } from '../support/flink/send.ts';
import { randomWorld } from '../support/flink/world.ts';
import { openHoldings } from '../support/http/holdings-service.ts';
import { keepingLogger } from '../support/kafka/reading.ts';
import { createTopic, plainConnection } from '../support/kafka/topic.ts';
import { plain } from '../support/postgres/questions.ts';
import { type PostgresServer, startPostgres } from '../support/postgres/server.ts';
import type { Ended } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { replayInto } from '../support/views/replayed.ts';

const address = inject('kafka').addresses.plain;
const PARTITIONS = 3;
/** Not the usual period. */
const PERIOD_US = 300_000_000;
const WAIT = { timeout: 90_000, interval: 250 };

const world = randomWorld(1, { updates: 400, partitions: PARTITIONS, periodUs: PERIOD_US });
const parts = new AsyncDisposableStack();
let server: PostgresServer;
let client: Awaited<ReturnType<PostgresServer['connect']>>;
let flatTopic: string;
let flink: FlinkCluster;
let events: ReadEvent[][];

beforeAll(async () => {
  const flinkStarts = startFlink({ slots: 2 });
  server = parts.use(await startPostgres());
  client = parts.use(await server.connect());
  await migrateStore(client, { dso: FLAT_DSO, periodUs: PERIOD_US });
  await client.query('CREATE ROLE engine LOGIN; GRANT holdfast_writer TO engine');
  const topic = await createTopic(address, { partitions: PARTITIONS });
  await topic.send(world.rows);
  const task = { ...taskOf(topic), rules: { periodUs: PERIOD_US }, markIntervalMs: 500 };
  flatTopic = task.flat;
  parts.use(startMember(task));
  parts.use(startMember(task));
  flink = parts.use(await flinkStarts);
  events = await decoded();
  await startJob({
    ...{ gateway: flink.gateway, rest: flink.rest, savepoint: null, replacedJob: null, logger: keepingLogger() },
    ...{ kafka: { ...plainConnection(address), topic: flatTopic }, group: `g-${flatTopic}` },
    ...{ postgres: settings('engine'), parallelism: 2, checkpointIntervalMs: 1_000 },
  });
}, 180_000);
afterAll(() => parts.disposeAsync());

const settings = (user: string): PostgresSettings => {
  return { host: '127.0.0.1', port: server.port, database: 'postgres', user, password: null, ssl: null };
};

/** All that the decoders wrote, once every partition has its last update. */
function decoded(): Promise<ReadEvent[][]> {
  return vi.waitFor(async () => {
    const messages = await readCommitted(address, flatTopic);
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

  it('make the snapshots and the answers of a data directory', async () => {
    await client.query('SELECT seal(10000)');
    await using store = openPostgresStore(settings('owner'));
    using directory = temporaryDirectory();
    const dataDir = directory.at('views');
    await replayInto(dataDir, [directory.writeLines('feed.ndjson', world.lines)], {
      dso: FLAT_DSO,
      snapshotPeriodUs: PERIOD_US,
    });
    using sqlite = openHoldings(dataDir);
    using postgres = openHoldings(dataDir, { answers: answersFrom(store, { emptyOwners: 'zero' }) });
    const wanted = await sqlite.store.facts({ kind: 'snapshots' });
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

    await expectEqualAnswers(postgres, sqlite, wanted);
  });
});

describe("events that are no ledger's", () => {
  const MIGRATION = 40;
  const at = (minute: number, k: string, cid: string | null = null): string =>
    oddMessage(MIGRATION, PERIOD_US, cid, [k, minute]);
  const ask = async <T>(sql: string): Promise<T[]> =>
    (await client.query({ text: sql, values: [MIGRATION], rowMode: 'array' })).rows as T[];

  it('are faults', async () => {
    const messages = oddMessages(MIGRATION, PERIOD_US).map((value) => ({ partition: 0, value }));
    const closers = world.ends.map((_, partition) => ({ partition, value: at(60, 'M') }));
    await sendTo(address, flatTopic, [...messages, ...closers]);
    const expected = ODD_CASES.map(({ name, counts, faults }) => ({
      name,
      counts,
      faults: [...faults].sort().join(''),
    }));
    await expect.poll(() => oddCasesIn(client, MIGRATION), WAIT).toEqual(expected);
  });

  it('are late behind an interval that is closed, and nothing is sealed past either', async () => {
    const control = `SELECT (first_t IS NULL) || ' ' || faults FROM snapshot_control WHERE migration_id = $1 ORDER BY seq`;
    const faults = ODD_CASES.reduce((sum, each) => sum + each.faults.length, 0);
    // Of the imports, of a time alone, which begins no migration, and of the rest.
    const rows = [['true 0'], ['true 0'], [`false ${faults}`]];
    await expect.poll(() => ask(control), WAIT).toEqual(rows);
    const late = [at(1, 'M'), at(1, 'T'), at(1, 'C', 'a late one'), at(61, 'M')];
    await sendTo(
      address,
      flatTopic,
      late.map((value) => ({ partition: 1, value })),
    );
    await expect
      .poll(() => ask('SELECT k, contract_id FROM late WHERE migration_id = $1'), WAIT)
      .toEqual([['C', 'a late one']]);
    expect(await ask(control)).toEqual(rows);
    await client.query('SELECT seal(1000)');
    expect(await ask('SELECT last_seq FROM sealed WHERE migration_id = $1 AND last_seq > 0')).toEqual([]);
  });
});

describe('the commands of the job', () => {
  const MIGRATION = 41;
  /** Runs `holdfast flink` start, status or stop. */
  const command = (name: string, ...more: string[]): Promise<Ended> => {
    const of = { ...flink, store: server.url('engine'), broker: address, topic: flatTopic, group: `g-${flatTopic}` };
    return jobCommand(of, name, ...more);
  };
  const status = async (): Promise<string> => (await command('status')).stdout;
  const says = (pattern: RegExp): Promise<void> => expect.poll(status, WAIT).toMatch(pattern);
  const send = (minute: number, ...contracts: readonly (readonly [k: string, cid: string])[]): Promise<void> =>
    sendClosed(address, flatTopic, { m: MIGRATION, periodUs: PERIOD_US, partitions: PARTITIONS, minute, contracts });
  const idsOf = async (table: string): Promise<string[]> => {
    const { rows } = await client.query<{ contract_id: string }>(
      `SELECT contract_id FROM ${table} WHERE migration_id = ${MIGRATION} ORDER BY 1`,
    );
    return rows.map(({ contract_id }) => contract_id);
  };
  let savepoint: string;

  it('say how far it is, and what keeps snapshots from being sealed', async () => {
    await send(1, ['C', 'kept'], ['C', 'spent before'], ['A', 'spent before']);
    await expect.poll(() => idsOf('coin'), WAIT).toEqual(['kept', 'spent before']);
    await says(/partition 2 +read to offset \d+ of \d+, time 2026-01-01T00:10:00Z, migration 41\n/);
    await says(/\nstate +RUNNING since \S+, (\d+) of \1 tasks run\nrestarts +0\nlast checkpoint +\d+ s ago/);
    const said = await status();
    expect(said).toMatch(/^job +[0-9a-f]{32}\n/);
    expect(said).toMatch(/\nattention +\d+ events in table fault: .*\n +next .*\nattention +1 event in table late/);
    const ahead = { partition: 1, value: oddMessage(MIGRATION, PERIOD_US, null, ['M', 200]) };
    await sendTo(address, flatTopic, [ahead]);
    await says(/\nattention +all that is there is read, and partition 0, 2 holds back .*\n +next /);
    const { stdout } = await command('status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      job: { state: 'RUNNING', pending_messages: expect.any(Number) },
      topic: { partitions: [{ partition: 0 }, { partition: 1 }, { partition: 2 }] },
      store: { late_events: 1 },
    });
  });

  it('start no second one', async () => {
    expect(await command('start')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/fills this store and is RUNNING/),
    });
  });

  it('stop it with a savepoint, and say how to go on', async () => {
    const stopped = await command('stop');
    expect(stopped.code).toBe(0);
    savepoint = stopped.stdout.trim();
    expect(stopped.stderr).toContain(`holdfast flink start --savepoint ${savepoint} goes on`);
    expect(await command('stop')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('FINISHED'),
    });
    expect(await status()).toMatch(/state +FINISHED since/);
    expect(await status()).toContain(`holdfast flink start --savepoint ${savepoint}\n`);
  });

  it('start nothing that would leave a gap or mix rows', async () => {
    const refused = async (said: RegExp, ...args: string[]): Promise<void> => {
      expect(await command('start', ...args)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(said),
      });
    };
    await refused(/rows of a job already: go on with --savepoint \S+savepoint-\S+, or replay into a new database/);
    await refused(/of no job that filled this store/, '--savepoint', 'file:/x/savepoint-000000-1234');
    await refused(/has 3 partitions, and with more tasks/, '--savepoint', savepoint, '--flink-parallelism', '4');
    await refused(/group nobody has decoded nothing/, '--savepoint', savepoint, '--kafka-group', 'nobody');
    await client.query("UPDATE job SET sql_digest = 'other' || sql_digest");
    await refused(/another SQL than this version's/, '--savepoint', savepoint);
    await client.query("UPDATE job SET sql_digest = replace(sql_digest, 'other', '')");
    await client.query('UPDATE setting SET version = version + 1');
    await refused(/is of a newer Holdfast .*: upgrade this program/, '--savepoint', savepoint);
    await client.query('UPDATE setting SET version = version - 1');
    const unknown = 'e'.repeat(32);
    const values = `'${unknown}', 'http://b', sql_digest, topic`;
    await client.query(`INSERT INTO job (job_id, cluster, sql_digest, topic) SELECT ${values} FROM job`);
    await refused(/job e{32}, started \S+Z on http:..b, was .* --replace-job e{32}\n$/, '--savepoint', savepoint);
    await refused(/--replace-job: given ee, expected .* is e{32}\n$/, '--savepoint', savepoint, '--replace-job', 'ee');
    await refused(/of no job that/, '--savepoint', 'file:/x/savepoint-000000-12', '--replace-job', unknown);
    expect(await status()).toMatch(/the cluster does not know job e{32}.*\n.* --replace-job e{32} /);
    await client.query(`DELETE FROM job WHERE job_id = '${unknown}'`);
    await client.query("UPDATE setting SET dso = 'b::12'");
    await refused(/the store was made for b::12/, '--savepoint', savepoint);
    await client.query('UPDATE setting SET dso = $1', [FLAT_DSO]);
    await client.query(`SET application_name = '${ENGINE_NAME}'`);
    await refused(/a job that this cluster does not know has 1 connection/, '--savepoint', savepoint);
    await client.query('RESET application_name');
  });

  it('forget a job that never came to run', async () => {
    const gone = savepoint.replace('/savepoints/', '/nowhere/');
    expect(await command('start', '--savepoint', gone)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^holdfast: the SQL gateway answers 500: Cannot find checkpoint or savepoint .*\n$/,
      ),
    });
    expect(await status()).toContain(`holdfast flink start --savepoint ${savepoint}\n`);
  });

  it('go on from the savepoint without a gap, with another parallelism', async () => {
    // What it has read may be gone.
    await cutTopic(address, flatTopic, 0, 10);
    await send(20, ['A', 'kept'], ['C', 'meanwhile']);
    const started = await command('start', '--savepoint', savepoint, '--flink-checkpoint-interval', '1h');
    expect(started).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f]{32}\n$/) });
    await expect.poll(() => idsOf('coin'), WAIT).toEqual(['kept', 'meanwhile', 'spent before']);
    await expect.poll(() => idsOf('spent'), WAIT).toEqual(['kept', 'spent before']);
    expect(await idsOf('fault')).toEqual([]);
    // How far the older job of this savepoint had read is not known now.
    expect(await command('start', '--savepoint', savepoint)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/partition 0 of topic \S+ begins at offset 10: /),
    });
  });

  it('say that it cannot go on where events are gone that it has not read', async () => {
    // It goes back to the savepoint.
    await sendTo(address, flatTopic, [{ partition: 0, value: 'no JSON' }]);
    await says(/\nlast exception .*JSON/);
    await cutTopic(address, flatTopic, 0, -1);
    await says(/\nattention +the job is [A-Z]+, .*out of range.*\n +next +events are gone that it has not read/);
    // It has made no checkpoint yet.
    expect(await command('stop', '--without-savepoint')).toMatchObject({
      code: 0,
      stdout: `${savepoint}\n`,
    });
    expect(await status()).toMatch(/state +CANCELED since/);
  });

  it('start nothing behind events that are gone', async () => {
    await client.query('DELETE FROM job WHERE restored_from IS NOT NULL');
    expect(await command('start', '--savepoint', savepoint)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/partition 0 of topic \S+ begins at offset \d+: events before it are gone/),
    });
  });
});
