import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SCRIPT = join(ROOT, 'deploy/scale/start-job.sh');
const PASSWORD = `it's "x\\y" & \${KAFKA_TOPIC};`;
/** What Flink's tools say, with the SQL as they get it. */
const SQL_CLIENT = 'stat -c "mode %a" "$5"; cat "$5"; echo "Job ID: 00ab12"; cp "$5" sent.sql';
const OTHER_JOB = '24.11.2026 23:50:00 : 00ff : holdfast 2 (RUNNING)';

const PARAMETERS: Readonly<Record<string, string | undefined>> = {
  ...{ JOB_NAME: "o'hara", PARALLELISM: '2', CHECKPOINT_INTERVAL: '1 s', PERIOD_SECONDS: '600' },
  ...{ KAFKA_BROKERS: 'a:9092', KAFKA_TOPIC: 'coins', KAFKA_OPTIONS: "'properties.x' = 'y'" },
  ...{ STORE_URL: 'jdbc:postgresql://db/holdfast', STORE_USER: 'writer', STORE_PASSWORD: PASSWORD },
};

interface Started {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What is left in the folder of temporary files. */
  readonly left: readonly string[];
  /** The SQL that Flink got. */
  readonly sql: string;
}

function start(more: typeof PARAMETERS = {}, { args = [] as string[], client = SQL_CLIENT, jobs = OTHER_JOB } = {}) {
  using directory = temporaryDirectory();
  const tool = (name: string, body: string): void =>
    writeFileSync(directory.at(name), `#!/bin/sh\ncd ${directory.path}\n${body}\n`, { mode: 0o700 });
  tool('flink', `echo '${jobs}'`);
  tool('sql-client.sh', client);
  writeFileSync(directory.at('secret'), `${PASSWORD}\n`);
  spawnSync('mkdir', [directory.at('tmp')]);
  const values = Object.entries({ ...PARAMETERS, ...more }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value.replace('$FOLDER', directory.path)]],
  );
  const env = {
    ...Object.fromEntries(values),
    PATH: `${directory.path}:${process.env.PATH}`,
    TMPDIR: directory.at('tmp'),
  };
  const { status, stdout, stderr } = spawnSync(SCRIPT, args, { encoding: 'utf8', env });
  const sent = spawnSync('cat', [directory.at('sent.sql')], { encoding: 'utf8' });
  return { code: status, stdout, stderr, left: readdirSync(directory.at('tmp')), sql: sent.stdout } satisfies Started;
}

it('fills the SQL, gives it to Flink in a file that is removed, and prints the id of the job only', () => {
  const { sql, ...ended } = start();
  expect(ended).toEqual({ code: 0, stdout: '00ab12\n', stderr: '', left: [] });
  expect(sql).toContain("SET 'pipeline.name' = 'o''hara';\nSET 'parallelism.default' = '2';\n");
  expect(sql).toContain("  'properties.x' = 'y',\n");
  const quoted = `'password' = '${PASSWORD.replaceAll("'", "''")}'`;
  expect(sql.split(quoted)).toHaveLength(9);
  expect(sql.replaceAll(quoted, '')).not.toMatch(/\$\{|^ *--/m);
});

it('reads a parameter from a file, and goes on from a savepoint', () => {
  const { code, sql } = start(
    { STORE_PASSWORD: undefined, STORE_PASSWORD_FILE: '$FOLDER/secret' },
    { args: ['file:/s'] },
  );
  expect([code, sql]).toEqual([0, `SET 'execution.state-recovery.path' = 'file:/s';\n${start().sql}`]);
});

it('leaves the file to its owner only', () => {
  const { stderr } = start({}, { client: 'echo "[ERROR] mode $(stat -c %a "$5")"' });
  expect(stderr).toBe('[ERROR] mode 600\nstart-job: Flink did not start the job\n');
});

it.each([
  [
    'a parameter that is missing',
    { PERIOD_SECONDS: undefined },
    {},
    2,
    /^start-job: the parameter PERIOD_SECONDS is missing/,
  ],
  [
    'a file that is not there',
    { KAFKA_TOPIC: undefined, KAFKA_TOPIC_FILE: '/none' },
    {},
    2,
    /KAFKA_TOPIC_FILE: cannot read \/none/,
  ],
  [
    'a job that runs',
    { JOB_NAME: 'holdfast 2' },
    {},
    2,
    /00ff : holdfast 2 \(RUNNING\)\nstart-job: this job runs already/,
  ],
  [
    'SQL that Flink refuses',
    {},
    { client: 'cat "$5"; echo "[ERROR] Could not"; echo reason' },
    1,
    /^\[ERROR\] Could not\nreason\nstart-job: Flink/,
  ],
])('refuses %s, and says no secret', (_, more, tools, code, said) => {
  const started = start(more, tools);
  expect(started).toMatchObject({ code, stdout: '', left: [], stderr: expect.stringMatching(said) });
  expect(started.stderr).not.toContain('x\\y');
});
