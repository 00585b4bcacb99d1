import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileSource } from '../src/feed/file.ts';
import { decodeChunks, RawBuffers } from '../src/ingest/decode-chunks.ts';
import { ViewsWriter } from '../src/views/writer.ts';
import { median } from './median.ts';
import { REPLAY_OPTIONS } from './replay-options.ts';

/** What sealing cost in the first and in the last tenth of a feed, while the active set grew. */
export interface SealReport {
  readonly snapshots: number;
  readonly longestMs: number;
  readonly earlyMs: number;
  readonly lateMs: number;
}

const EVENTS_EACH = 7_000;

/** Replays a feed and seals a snapshot after every 7,000 events, with everything before it on disk already. */
async function sealAgainAndAgain(path: string, dataDir: string): Promise<SealReport> {
  const buffers = new RawBuffers();
  const { signal } = new AbortController();
  const times: number[] = [];
  using writer = new ViewsWriter(dataDir, REPLAY_OPTIONS);
  writer.beginSource(path, { topic: false });
  let sealedAt = 0;
  for await (const chunk of decodeChunks(openFileSource(path), { migrationId: 0, signal, buffers })) {
    if (!writer.apply(chunk).done) throw new Error('the replay halted');
    if (sealedAt + EVENTS_EACH > writer.counts.events + writer.pendingEvents) continue;
    writer.commit();
    sealedAt = writer.counts.events;
    const started = performance.now();
    writer.force({ maySeal: true });
    times.push(performance.now() - started);
  }
  const tenth = Math.ceil(times.length / 10);
  return {
    snapshots: times.length,
    longestMs: Math.max(...times),
    earlyMs: median(times.slice(0, tenth)),
    lateMs: median(times.slice(-tenth)),
  };
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-seal-'));
try {
  process.stdout.write(`${JSON.stringify(await sealAgainAndAgain(process.argv[2]!, folder))}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
