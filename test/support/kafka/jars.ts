import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const ROOT = resolve(import.meta.dirname, '../../..');
const CACHE = join(ROOT, '.cache');
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

export const LOG_CONFIGURATION = join(ROOT, 'scripts/kafka/log4j2.properties');

/** The profiles of scripts/kafka/pom.xml. */
export type KafkaVersion = '3.9.1' | '4.1.1';

/** The folder of a broker's jars; fetched once from Maven Central (43 MB) and kept in `.cache`. */
export async function kafkaJars(version: KafkaVersion): Promise<string> {
  const jars = join(CACHE, `kafka-jars-${version}`);
  await demand('java', ['-version'], 'a Java runtime (17 or later), such as `apt-get install openjdk-17-jre-headless`');
  if (existsSync(jars)) return jars;
  await demand('mvn', ['-v'], 'Maven, such as `apt-get install maven`');
  await mkdir(CACHE, { recursive: true });
  // Copied to a folder of its own and renamed when complete: a run that is cut short leaves nothing that looks whole.
  const temporary = await mkdtemp(join(CACHE, 'kafka-jars-'));
  await cp(join(ROOT, 'scripts/kafka/pom.xml'), join(temporary, 'pom.xml'));
  try {
    await run(
      'mvn',
      ['-q', '-B', `-P${version}`, COPY_DEPENDENCIES, '-DincludeScope=runtime', '-DoutputDirectory=lib'],
      {
        cwd: temporary,
      },
    );
    await rename(join(temporary, 'lib'), jars).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } catch (cause) {
    throw new Error(`Maven could not fetch the jars of the Kafka broker that the tests run against: ${cause}`, {
      cause,
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return jars;
}

async function demand(command: string, args: readonly string[], remedy: string): Promise<void> {
  try {
    await run(command, [...args]);
  } catch (cause) {
    throw new Error(`the Kafka tests run a real broker and need ${remedy}; \`${command}\` could not be run`, { cause });
  }
}
