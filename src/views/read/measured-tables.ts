import type { Logger } from 'pino';
import type { ThreadContract } from '../../threads/thread.ts';
import { startThread, type Thread, threadFile } from '../../threads/thread.ts';
import type { TableSizes } from './table-sizes.ts';

/** The sizes of the tables as they were at a time, in milliseconds since 1970. */
export interface MeasuredTables {
  readonly sizes: TableSizes;
  readonly atMs: number;
}

export interface SizesContract extends ThreadContract {
  readonly data: { readonly dataDir: string };
  readonly requests: { readonly measure: (limits: { readonly treeMsMax: number }) => TableSizes };
}

/** While a b-tree is read the log cannot be emptied. A minute is enough for some 10 GB from a disk, and more from memory. */
const TREE_MS_MAX = 60_000;
/** Measuring reads all of views.db: at most this often, and at most for one hundredth of the time. */
const PAUSE_MS_MIN = 5 * 60_000;
const PAUSE_TIMES = 100;

/**
 * Returns what was measured last; null before the first time. Where it is due, tables are then measured again, and nobody waits for
 * that.
 */
export function measureNowAndThen(
  measure: () => Promise<TableSizes | null>,
  clockMs: () => number,
): () => MeasuredTables | null {
  let last: MeasuredTables | null = null;
  let dueMs = Number.NEGATIVE_INFINITY;

  async function measureAgain(atMs: number): Promise<void> {
    dueMs = Number.POSITIVE_INFINITY;
    const sizes = await measure();
    if (sizes !== null) last = { sizes, atMs };
    const endMs = clockMs();
    dueMs = endMs + Math.max(PAUSE_MS_MIN, PAUSE_TIMES * (endMs - atMs));
  }

  return () => {
    if (clockMs() >= dueMs) void measureAgain(clockMs());
    return last;
  };
}

/** Measures the tables of a data directory in a thread that is there for as long as that takes. Disposing ends it. */
export function createTableMeasurer(
  dataDir: string,
  logger: Logger,
): { readonly tables: () => MeasuredTables | null } & AsyncDisposable {
  let thread: Thread<SizesContract> | null = null;
  let stopping = false;

  async function measure(): Promise<TableSizes | null> {
    if (stopping) return null;
    try {
      const file = threadFile('sizes-worker', import.meta.url);
      thread = startThread<SizesContract>(file, { name: 'sizes', data: { dataDir }, on: {}, errors: [] });
      const sizes = await thread.call('measure', { treeMsMax: TREE_MS_MAX });
      const left = Object.keys(sizes).filter((table) => sizes[table] === null);
      if (left.length > 0) logger.warn({ tables: left, msMax: TREE_MS_MAX }, 'these tables take too long to measure');
      return sizes;
    } catch (error) {
      if (!stopping) logger.warn({ err: error }, 'the tables cannot be measured');
      return null;
    } finally {
      await thread?.terminate();
      thread = null;
    }
  }

  return {
    tables: measureNowAndThen(measure, Date.now),
    async [Symbol.asyncDispose]() {
      stopping = true;
      await thread?.terminate();
    },
  };
}
