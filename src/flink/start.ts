import { randomBytes } from 'node:crypto';
import { counted } from '../counted.ts';
import type { KafkaConnection } from '../feed/kafka/kafka-client.ts';
import type { SourceLogger } from '../feed/source.ts';
import { beginAtFirst, lookAtFlatTopic } from '../flat-decoder/flat-topic.ts';
import { type JobStore, type StartedJob, withJobStore } from '../postgres/jobs.ts';
import type { PostgresSettings } from '../postgres/settings.ts';
import { Refusal } from '../refusal.ts';
import { shellWord } from '../shell-word.ts';
import { FlinkFailure } from './failure.ts';
import { gatewayVersion, openGatewaySession } from './gateway.ts';
import { createJobManager, isOver, type JobManager } from './job-manager.ts';
import { type JobSql, literal, readJobSql } from './job-sql.ts';
import { ENGINE_NAME, jobName, kafkaOptions, secretsOf, storeOptions } from './parameters.ts';

export interface JobOptions {
  readonly gateway: string;
  readonly rest: string;
  readonly kafka: KafkaConnection & { readonly topic: string };
  /** Of the decoders. */
  readonly group: string;
  readonly postgres: PostgresSettings;
  readonly parallelism: number;
  readonly checkpointIntervalMs: number;
  /** What to go on from; null: from the topic's first event. */
  readonly savepoint: string | null;
  /** The newest job, of which whoever starts this one says that it cannot come back. */
  readonly replacedJob: string | null;
  readonly logger: SourceLogger;
}

/** The line of versions whose planner was compared with a fold of the feed; others plan other states, and have had silent bugs. */
const FLINK = '2.1';

/** The group in which the job says how far it has read. */
const readerGroup = ({ host, port, database }: PostgresSettings): string =>
  `holdfast-flink-${host}:${port}/${database}`;

/** Starts the job that fills the store, and gives its id. Throws a Refusal where it must not be started. */
export async function startJob(options: JobOptions): Promise<string> {
  const { postgres, kafka } = options;
  const manager = createJobManager(options.rest);
  await checkCluster(options, manager);
  return withJobStore(postgres, async (store) => {
    if (!(await store.lock())) throw new Refusal('another holdfast flink start is at work on this store');
    const settings = await store.settings();
    const jobs = await store.jobs();
    const partitions = await checkTopic(options, { ...settings, isNewest: jobOf(options.savepoint, jobs) === jobs[0] });
    await checkJobs(options, { store, manager, jobs });
    const sql = readJobSql();
    await checkTables(options, { store, jobs, sql });
    if (options.savepoint === null)
      await beginAtFirst(kafka, { topic: kafka.topic, reader: readerGroup(postgres), partitions }, options.logger);
    const jobId = randomBytes(16).toString('hex');
    await store.add({
      jobId,
      cluster: options.rest,
      sqlDigest: sql.digest,
      topic: kafka.topic,
      restoredFrom: options.savepoint,
    });
    try {
      await submit({ ...options, postgres: verifiable(postgres, store) }, { jobId, sql, periodUs: settings.periodUs });
    } catch (error) {
      if (error instanceof FlinkFailure && error.status !== null) {
        // A gateway that gave no answer at all may have started it.
        const job = await manager.job(jobId);
        if (job === null || isOver(job.state)) await store.remove(jobId);
      }
      throw error;
    }
    return jobId;
  });
}

async function checkCluster({ gateway, parallelism, logger }: JobOptions, manager: JobManager): Promise<void> {
  const answered = async <T>(step: () => Promise<T>): Promise<T> => {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof FlinkFailure)) throw error;
      throw new Refusal(error.message, { cause: error });
    }
  };
  const planner = await answered(() => gatewayVersion(gateway));
  const overview = await answered(() => manager.overview());
  const others = [planner, overview['flink-version']].filter((version) => !version.startsWith(`${FLINK}.`));
  if (others.length > 0)
    throw new Refusal(`this is Flink ${others[0]}, and the job is known to be exact with ${FLINK} only`);
  const free = overview['slots-available'];
  if (free < parallelism)
    logger.warn(
      { free },
      `the cluster has ${counted(free, 'free task slot')} of ${parallelism}: the job waits for more`,
    );
}

/** Gives the partitions. */
async function checkTopic(
  { kafka, postgres, group, parallelism, savepoint, logger }: JobOptions,
  { periodUs, dso, isNewest }: { readonly periodUs: number; readonly dso: string; readonly isNewest: boolean },
): Promise<readonly number[]> {
  const { topic } = kafka;
  const reader = readerGroup(postgres);
  const { bounds, decodedWith, read } = await lookAtFlatTopic(kafka, { topic, group, reader, periodUs }, logger);
  if (parallelism > bounds.size) {
    throw new Refusal(
      `--flink-parallelism ${parallelism}: topic ${topic} has ${counted(bounds.size, 'partition')}, and with more tasks nothing would ` +
        'ever be written',
    );
  }
  if (decodedWith === null) {
    throw new Refusal(
      `group ${group} has decoded nothing, so whose coins are in topic ${topic} is not known: start holdfast decode, or name its --kafka-group`,
    );
  }
  if (decodedWith.dso !== dso || decodedWith.periodUs !== periodUs) {
    throw new Refusal(
      `group ${group} decodes with --dso ${decodedWith.dso} and a --snapshot-period of ${decodedWith.periodUs} microseconds, ` +
        `and the store was made for ${dso} and ${periodUs}: fill a store of its own`,
    );
  }
  // The job would fail at the first event. What was read is known of the newest job only.
  const isKnown = savepoint !== null && isNewest;
  const cut = [...bounds].find(([partition, { low }]) => low > (isKnown ? (read.get(partition) ?? 0) : 0));
  if (cut !== undefined) {
    throw new Refusal(
      `partition ${cut[0]} of topic ${topic} begins at offset ${cut[1].low}: events before it are gone that the job has not read; ` +
        'decode into a new topic that keeps its messages, and replay into a new database',
    );
  }
  const empty = [...bounds].filter(([, { high }]) => high === 0).map(([partition]) => partition);
  if (empty.length > 0)
    logger.warn(
      { empty },
      `partition ${empty.join(', ')} of topic ${topic} has no event yet: until each has, nothing is sealed`,
    );
  return [...bounds.keys()];
}

async function checkJobs(
  { postgres, replacedJob }: JobOptions,
  { store, manager, jobs }: { store: JobStore; manager: JobManager; jobs: readonly StartedJob[] },
): Promise<void> {
  const own = new Set(jobs.map(({ jobId }) => jobId));
  const name = jobName(postgres);
  const active = (await manager.jobs()).find((job) => !isOver(job.state) && (own.has(job.jid) || job.name === name));
  if (active !== undefined) {
    throw new Refusal(
      `job ${active.jid} fills this store and is ${active.state}: holdfast flink status shows it, holdfast flink stop stops it`,
    );
  }
  const connections = await store.connectionsOf(ENGINE_NAME);
  if (connections > 0) {
    throw new Refusal(
      `a job that this cluster does not know has ${counted(connections, 'connection')} to the store: stop it where it runs`,
    );
  }
  await checkNewest(jobs[0], replacedJob, manager);
}

/** Two jobs that go on from different states would write different rows. Whoever replaced one before has answered for those before it. */
async function checkNewest(
  newest: StartedJob | undefined,
  replacedJob: string | null,
  manager: JobManager,
): Promise<void> {
  if (replacedJob !== null && replacedJob !== newest?.jobId) {
    const found = newest === undefined ? 'none was started for it' : `that is ${newest.jobId}`;
    throw new Refusal(`--replace-job: given ${replacedJob}, expected the newest job of this store: ${found}`);
  }
  if (newest === undefined || newest.savepoint !== null || replacedJob !== null) return;
  const { jobId, startedAt, cluster } = newest;
  if ((await manager.job(jobId)) !== null) return;
  throw new Refusal(
    `job ${jobId}, started ${startedAt.toISOString()}${cluster === null ? '' : ` on ${cluster}`}, was not stopped, and this cluster ` +
      'does not know it: where its own is down and comes back, two jobs would write the store. Stop it there (holdfast flink stop), or, ' +
      `where it cannot come back, add --replace-job ${jobId}`,
  );
}

/** The names that Flink gives to a savepoint and to a checkpoint that is kept, with the first digits or all of the job's id. */
const STATE_OF = /\/(?:savepoint-([0-9a-f]{6})-[0-9a-f]+|([0-9a-f]{32})\/chk-\d+)\/?$/;

function jobOf(savepoint: string | null, jobs: readonly StartedJob[]): StartedJob | undefined {
  const [, short, long] = STATE_OF.exec(savepoint ?? '') ?? [];
  return jobs.find(({ jobId }) => jobId === long || jobId.slice(0, 6) === short);
}

async function checkTables(
  { savepoint, kafka, postgres }: JobOptions,
  { store, jobs, sql }: { store: JobStore; jobs: readonly StartedJob[]; sql: JobSql },
): Promise<void> {
  const anew = `replay into a new database: createdb ${shellWord(`${postgres.database}-2`)}, holdfast flink migrate, holdfast flink start`;
  if (savepoint === null) {
    if (!(await store.hasRows())) return;
    const left = jobs.find((job) => job.savepoint !== null)?.savepoint;
    const from = left == null ? '--savepoint PATH' : `--savepoint ${shellWord(left)}`;
    throw new Refusal(`the store has rows of a job already: go on with ${from}, or ${anew}`);
  }
  const of = jobOf(savepoint, jobs);
  if (of === undefined) {
    throw new Refusal(
      `--savepoint ${savepoint} is of no job that filled this store (its path ends in savepoint-<the job's first digits>-..., or in ` +
        '<the job>/chk-...): what lies between would be missing',
    );
  }
  if (of.topic !== kafka.topic)
    throw new Refusal(`--savepoint ${savepoint} is of topic ${of.topic}, not ${kafka.topic}: ${anew}`);
  if (of.sqlDigest === sql.digest) return;
  throw new Refusal(
    `--savepoint ${savepoint} is of a job with another SQL than this version's, whose state does not fit: ${anew}`,
  );
}

/** The driver of Flink's tasks takes one certificate, and of several the first. */
function verifiable(postgres: PostgresSettings, store: JobStore): PostgresSettings {
  const ca = postgres.ssl?.ca ?? null;
  return ca === null ? postgres : { ...postgres, ssl: { ca: store.authority(ca) } };
}

async function submit(
  { gateway, rest, kafka, postgres, parallelism, checkpointIntervalMs, savepoint }: JobOptions,
  { jobId, sql, periodUs }: { readonly jobId: string; readonly sql: JobSql; readonly periodUs: number },
): Promise<void> {
  const statements = sql.statements({
    jobName: jobName(postgres),
    jobId,
    parallelism: String(parallelism),
    checkpointInterval: `${checkpointIntervalMs} ms`,
    periodMs: periodUs / 1000,
    periodSeconds: String(periodUs / 1_000_000),
    kafka: kafkaOptions(kafka, { topic: kafka.topic, group: readerGroup(postgres) }),
    store: storeOptions(postgres),
  });
  await using session = await openGatewaySession(gateway, secretsOf(kafka, postgres));
  if (savepoint !== null) await session.run(`SET 'execution.state-recovery.path' = ${literal(savepoint)}`);
  for (const statement of statements) await session.run(statement);
  if ((await createJobManager(rest).job(jobId)) === null) {
    throw new Error(`the gateway started job ${jobId} on another cluster than that of --flink-rest: stop it there`);
  }
}
