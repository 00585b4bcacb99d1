import { parentPort, workerData } from 'node:worker_threads';
import { openFileSource } from '../feed/file/source.ts';
import type { FeedLogger } from '../feed/kafka/client.ts';
import { openKafkaSource } from '../feed/kafka/source.ts';
import { openKafkaWatch } from '../feed/kafka/watch.ts';
import type { Source } from '../feed/source.ts';
import { runFeed } from './feed-run.ts';
import type { SourceSpec } from './feed-thread.ts';

/** The feed thread. */
const { source: spec, migrationId } = workerData as { source: SourceSpec; migrationId: number };

function openSource(logger: FeedLogger): Source {
  switch (spec.kind) {
    case 'file':
      return openFileSource(spec.path);
    case 'topic':
      return openKafkaSource({ ...spec.topic, migrationId, logger });
    case 'watch':
      return openKafkaWatch({ ...spec.topic, logger });
  }
}

await runFeed(parentPort!, migrationId, openSource);
