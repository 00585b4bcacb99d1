import { parentPort, workerData } from 'node:worker_threads';
import { openFileSource } from '../feed/file.ts';
import { openKafkaSource } from '../feed/kafka.ts';
import { runFeed } from './feed-run.ts';
import type { SourceSpec } from './feed-thread.ts';

/** The feed thread. */
const { source: spec, migrationId } = workerData as { source: SourceSpec; migrationId: number };
await runFeed(parentPort!, migrationId, (logger) =>
  spec.kind === 'file' ? openFileSource(spec.path) : openKafkaSource({ ...spec.topic, migrationId, logger }),
);
