import { createReadOnlyHealth } from '../health.ts';
import { openStanding } from '../views/read/standing.ts';
import type { Role } from './role.ts';

/** Throws a Refusal where there are no views yet; nothing is created. */
export function openReading({ dataDir }: { readonly dataDir: string }, version: string): Role {
  const standing = openStanding(dataDir);
  return {
    health: (store) => createReadOnlyHealth({ store, version, standing: standing.read }),
    force: null,
    users: null,
    failed: standing.replaced,
    [Symbol.asyncDispose]: async () => standing[Symbol.dispose](),
  };
}
