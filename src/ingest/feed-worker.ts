import { setImmediate as turn } from 'node:timers/promises';
import { transferList } from '../chunk/chunk.ts';
import { openFileSource } from '../feed/file/source.ts';
import { openKafkaSource } from '../feed/kafka/source.ts';
import { openKafkaWatch } from '../feed/kafka/watch.ts';
import type { Source, TopicStart } from '../feed/source.ts';
import { loggerThatSays } from '../threads/log-line.ts';
import { Moving, type ServedThread, serveThread } from '../threads/serve-thread.ts';
import { decodeChunks, RawBuffers } from './decode-chunks.ts';
import type { DecodedChunk, FeedContract } from './feed-thread.ts';

/** How often the other side hears where a source without an end stands. */
const STATUS_INTERVAL_MS = 200;

function openSource({ data: { source: spec, migrationId }, say }: ServedThread<FeedContract>): Source {
  const logger = loggerThatSays((line) => say('log', line));
  switch (spec.kind) {
    case 'file':
      return openFileSource(spec.path);
    case 'topic':
      return openKafkaSource({ ...spec.topic, migrationId, logger });
    case 'watch':
      return openKafkaWatch({ ...spec.topic, logger });
  }
}

/** The feed thread: bytes -> decoded chunks, each of them when it is asked for. */
await serveThread<FeedContract>((thread) => {
  const source = openSource(thread);
  const buffers = new RawBuffers();
  const chunks = decodeChunks(source, { migrationId: thread.data.migrationId, signal: thread.stop, buffers });
  let sent: { readonly names: readonly string[]; readonly count: number } = { names: [], count: 0 };
  let last: Promise<unknown> = Promise.resolve();
  let startSaid: TopicStart | null = null;
  const statusTimer = setInterval(sayStatus, STATUS_INTERVAL_MS);

  function sayStart(): void {
    const start = source.topicStart?.() ?? null;
    if (start === startSaid || start === null) return;
    thread.say('topicStart', start);
    startSaid = start;
  }

  function sayStatus(): void {
    sayStart();
    const status = source.status?.();
    if (status !== undefined) thread.say('status', status);
  }

  async function nextChunk(): Promise<Moving<DecodedChunk> | null> {
    const { done, value: chunk } = await chunks.next().finally(sayStart);
    if (done === true) return null;
    const namesFrom = chunk.names === sent.names ? sent.count : 0;
    const names = chunk.names.slice(namesFrom);
    sent = { names: chunk.names, count: chunk.names.length };
    return new Moving({ chunk: { ...chunk, names }, namesFrom, progress: source.progress() }, transferList(chunk));
  }

  return {
    next(spare) {
      if (spare !== null) buffers.giveBack(spare);
      const next = last.then(nextChunk);
      // Before the next one is begun, this one is on its way.
      last = next.then(() => turn());
      last.catch(() => {});
      return next;
    },
    stored: (nextOffsets) => source.stored?.(nextOffsets),
    async [Symbol.asyncDispose]() {
      await chunks.return(undefined);
      clearInterval(statusTimer);
      sayStatus();
    },
  };
});
