import type { Facts, HoldingsStore, Lookup } from '../../../holdings/facts.ts';
import { ownerEvent } from '../../../holdings/insight/events.ts';
import type { SealedSnapshot } from '../../../holdings/insight/facts.ts';
import { eventText } from './event-text.ts';

/** A snapshot, and the text of the owner events that come before its own. */
export interface Sealed {
  readonly snapshot: SealedSnapshot;
  readonly ownersText: string;
}

/** Snapshots in the order in which they were sealed. What several streams need is read once. */
export interface SealedLog {
  /** The first few after a place, up to another. */
  after(
    range: { readonly place: number; readonly until: number },
    owners: readonly string[],
  ): Promise<readonly Sealed[]>;
  withOwners(snapshots: readonly SealedSnapshot[], owners: readonly string[]): Promise<readonly Sealed[]>;
}

/** Read at a time: this many, or as many as have that many owner events, so that no stream holds up the others. */
const SNAPSHOTS_AT_ONCE = 32;
const OWNER_EVENTS_AT_ONCE = 128;
/** Facts and owners without one that are kept, at some 400 bytes; then all are dropped. */
const KEPT_MAX = 20_000;

export function createSealedLog(store: HoldingsStore): SealedLog {
  const kept = new Map<string, readonly unknown[]>();
  let keptCount = 0;

  async function factsOf<K extends 'sealed snapshots' | 'changes of owners'>(lookup: Lookup<K>): Promise<Facts<K>> {
    const key = JSON.stringify(lookup);
    const known = kept.get(key);
    if (known !== undefined) return known as Facts<K>;
    const found = await store.facts(lookup);
    if (keptCount > KEPT_MAX) {
      kept.clear();
      keptCount = 0;
    }
    kept.set(key, found);
    keptCount += 1 + found.length + found.flat().length;
    return found;
  }

  async function withOwners(
    snapshots: readonly SealedSnapshot[],
    owners: readonly string[],
  ): Promise<readonly Sealed[]> {
    const changes = new Map<number, Facts<'changes of owners'>>();
    if (owners.length > 0)
      for (const [migrationId, own] of Map.groupBy(snapshots, (snapshot) => snapshot.migrationId)) {
        const [from, to] = [own[0]!.recordTime, own.at(-1)!.recordTime];
        changes.set(migrationId, await factsOf({ kind: 'changes of owners', migrationId, owners, from, to }));
      }
    return snapshots.map((snapshot) => {
      const { migrationId, recordTime } = snapshot;
      const texts = changes.get(migrationId)?.map((ofOwner, i) => {
        const change = ofOwner.find((each) => each.recordTime === recordTime);
        return change === undefined ? '' : eventText('owner', ownerEvent(migrationId, owners[i]!, change));
      });
      return { snapshot, ownersText: texts?.join('') ?? '' };
    });
  }

  return {
    async after({ place, until }, owners) {
      const rows = Math.min(SNAPSHOTS_AT_ONCE, Math.max(1, Math.floor(OWNER_EVENTS_AT_ONCE / owners.length)));
      return withOwners(await factsOf({ kind: 'sealed snapshots', after: place, until, rows }), owners);
    },
    withOwners,
  };
}
