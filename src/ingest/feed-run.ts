import type { MessagePort } from 'node:worker_threads';
import { transferList } from '../chunk/chunk.ts';
import type { FeedLogger } from '../feed/kafka/client.ts';
import { BrokenContainer, FeedRefused, type Source, type TopicStart } from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import { decodeChunks, RawBuffers } from './decode-chunks.ts';
import { CHUNKS_AHEAD_MAX, type FeedMessage, type FeedNotice, type FeedRequest, type LogLine } from './feed-thread.ts';

/** How often the other side hears where a source without an end stands. */
const STATUS_INTERVAL_MS = 200;

/** Bytes -> decoded chunks, handed over until the other side is CHUNKS_AHEAD_MAX behind, or says stop. */
export async function runFeed(
  port: MessagePort,
  migrationId: number,
  openSource: (logger: FeedLogger) => Source,
): Promise<void> {
  const stop = new AbortController();
  let source: Source | null = null;
  const buffers = new RawBuffers();
  let ahead = 0;
  let sent: { readonly names: readonly string[]; readonly count: number } = { names: [], count: 0 };
  let wake: () => void = () => {};
  port.on('message', (request: FeedRequest) => {
    switch (request.type) {
      case 'applied':
        if (request.raw !== null) buffers.giveBack(request.raw);
        ahead -= 1;
        break;
      case 'stored':
        source?.stored?.(request.nextOffsets);
        break;
      case 'stop':
        stop.abort();
    }
    wake();
  });
  const post = (message: FeedMessage | FeedNotice, transfer: ArrayBuffer[] = []): void =>
    port.postMessage(message, transfer);
  let startTold: TopicStart | null = null;
  const tellStart = (): void => {
    const start = source?.topicStart?.() ?? null;
    if (start === startTold || start === null) return;
    post({ type: 'topic_start', start });
    startTold = start;
  };
  const tellStatus = (): void => {
    tellStart();
    const status = source?.status?.();
    if (status !== undefined) post({ type: 'status', status });
  };
  const statusTimer = setInterval(tellStatus, STATUS_INTERVAL_MS);
  try {
    source = openSource(postingLogger(post));
    for await (const chunk of decodeChunks(source, { migrationId, signal: stop.signal, buffers })) {
      tellStart();
      const namesFrom = chunk.names === sent.names ? sent.count : 0;
      const names = chunk.names.slice(namesFrom);
      const message = { chunk: { ...chunk, names }, namesFrom, progress: source.progress() };
      post({ type: 'chunk', ...message }, transferList(chunk));
      sent = { names: chunk.names, count: chunk.names.length };
      ahead += 1;
      while (ahead >= CHUNKS_AHEAD_MAX && !stop.signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    post({ type: 'end' });
  } catch (error) {
    // What was found before the topic is refused has been seen: it is stored all the same.
    tellStart();
    if (error instanceof BrokenContainer) post({ type: 'broken', place: error.place, reason: error.message });
    else if (error instanceof FeedRefused) post({ type: 'feed_refused', message: error.message });
    else if (error instanceof Refusal) post({ type: 'refused', message: error.message });
    else if (!stop.signal.aborted) throw error;
  } finally {
    tellStatus();
    clearInterval(statusTimer);
  }
  if (!stop.signal.aborted) await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
  port.close();
}

function postingLogger(post: (notice: FeedNotice) => void): FeedLogger {
  const at = (level: LogLine['level']) => (fields: object, message: string) =>
    post({ type: 'log', line: { level, fields, message } });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
