import type { JobManager, Metrics } from './job-manager.ts';

/** How far the job's source is. */
export interface SourceProgress {
  /** Messages that it knows of and has not read; null where it does not say. */
  readonly pending: number | null;
  /** The clock of events (docs/scale-out.md) up to which all intervals are closed, in milliseconds; null before the first one. */
  readonly closedClk: number | null;
  readonly partitions: ReadonlyMap<number, PartitionProgress>;
}

export interface PartitionProgress {
  /** The last offset read; null for none. */
  readonly offset: number | null;
  readonly closedClk: number | null;
}

/** In one request: an address is limited to 4,096 bytes. */
const NAMES_MAX = 20;

/** Null where no task of the source says anything, as while it is restarted. */
export async function readSourceProgress(
  manager: JobManager,
  { jobId, vertices, topic }: { jobId: string; vertices: readonly { id: string; name: string }[]; topic: string },
): Promise<SourceProgress | null> {
  for (const { id } of vertices.filter(({ name }) => name.startsWith('Source: '))) {
    const names = (await manager.metrics(jobId, id)).map((metric) => metric.id);
    const wanted = names.filter((name) => USED.some((pattern) => pattern.test(name)));
    const values: Metrics[number][] = [];
    for (let at = 0; at < wanted.length; at += NAMES_MAX)
      values.push(...(await manager.metrics(jobId, id, wanted.slice(at, at + NAMES_MAX))));
    const progress = progressOf(values, topic);
    if (progress !== null) return progress;
  }
  return null;
}

const PENDING = /\.pendingRecords$/;
const OUTPUT_WATERMARK = /^Source__[^.]*\.currentOutputWatermark$/;
const OFFSET = /\.KafkaSourceReader\.topic\.(.+)\.partition\.(\d+)\.currentOffset$/;
const WATERMARK = /\.split\.(.+)-(\d+)\.watermark\.currentWatermark$/;
const USED = [PENDING, OUTPUT_WATERMARK, OFFSET, WATERMARK];

function progressOf(values: Metrics, topic: string): SourceProgress | null {
  const partitions = new Map<number, PartitionProgress>();
  let pending: number | null = null;
  let closedClk: number | null = null;
  for (const { id, min, max, sum } of values) {
    const [, topicOfOffset, ofOffset] = OFFSET.exec(id) ?? [];
    const [, topicOfWatermark, ofWatermark] = WATERMARK.exec(id) ?? [];
    if (PENDING.test(id)) pending = sum ?? null;
    else if (OUTPUT_WATERMARK.test(id)) closedClk = clkOf(min);
    else if (topicOfOffset === topic) set(Number(ofOffset), { offset: max === undefined || max < 0 ? null : max });
    else if (topicOfWatermark === topic) set(Number(ofWatermark), { closedClk: clkOf(max) });
  }
  return partitions.size === 0 ? null : { pending, closedClk, partitions };

  function set(partition: number, part: Partial<PartitionProgress>): void {
    partitions.set(partition, { offset: null, closedClk: null, ...partitions.get(partition), ...part });
  }
}

/** A watermark is the last millisecond before what is still open; before the first it is the least number that there is. */
function clkOf(watermark: number | undefined): number | null {
  return watermark === undefined || watermark < 0 ? null : watermark + 1;
}
