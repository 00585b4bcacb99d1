import { createReadOnlyHealth } from '../health.ts';
import { openStanding } from '../views/read/standing.ts';
import type { Role } from './role.ts';
import { readOnlyStreamStatus } from './stream-status.ts';

/** Throws a Refusal where there are no views yet; nothing is created. */
export function openReading({ dataDir }: { readonly dataDir: string }, version: string): Role {
  const standing = openStanding(dataDir);
  return {
    health: (store) => createReadOnlyHealth({ store, version, standing: standing.read }),
    streamStatus: () => readOnlyStreamStatus(standing.read()),
    // It reads what another process writes, at the cost of a lock each time.
    streamLookMs: 1_000,
    ingestStatus: null,
    force: null,
    users: null,
    failed: standing.replaced,
    [Symbol.asyncDispose]: async () => standing[Symbol.dispose](),
  };
}
