import type { HoldingsStore } from '../../../holdings/facts.ts';
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
/** Events and owners without one that are kept, at some 400 bytes; then all are dropped. */
const KEPT_MAX = 20_000;

export function createSealedLog(store: HoldingsStore): SealedLog {
  let snapshotsKept = new Map<string, readonly SealedSnapshot[]>();
  /** The events of an owner in a range, by record time. */
  let ownersKept = new Map<string, ReadonlyMap<number, string>>();
  let kept = 0;

  function keep<Value>(map: Map<string, Value>, key: string, value: Value, size: number): Value {
    map.set(key, value);
    kept += 1 + size;
    return value;
  }

  function dropWhereFull(): void {
    if (kept < KEPT_MAX) return;
    snapshotsKept = new Map();
    ownersKept = new Map();
    kept = 0;
  }

  async function snapshotsAfter(after: number, until: number, rows: number): Promise<readonly SealedSnapshot[]> {
    const key = `${after} ${until} ${rows}`;
    const found = snapshotsKept.get(key);
    if (found !== undefined) return found;
    const read = await store.facts({ kind: 'sealed snapshots', after, until, rows });
    return keep(snapshotsKept, key, read, read.length);
  }

  /** The owners' events in snapshots of one migration, by owner. */
  async function eventsOf(
    snapshots: readonly SealedSnapshot[],
    owners: readonly string[],
  ): Promise<readonly ReadonlyMap<number, string>[]> {
    const { migrationId, recordTime: from } = snapshots[0]!;
    const to = snapshots.at(-1)!.recordTime;
    const keyOf = (party: string): string => `${migrationId} ${from} ${to} ${party}`;
    const unknown = owners.filter((party) => !ownersKept.has(keyOf(party)));
    const changes =
      unknown.length === 0
        ? []
        : await store.facts({ kind: 'changes of owners', migrationId, owners: unknown, from, to });
    for (const [i, party] of unknown.entries()) {
      const texts = changes[i]!.map((change) => eventText('owner', ownerEvent(migrationId, party, change)));
      const byTime = new Map(changes[i]!.map(({ recordTime }, at) => [recordTime, texts[at]!]));
      keep(ownersKept, keyOf(party), byTime, byTime.size);
    }
    return owners.map((party) => ownersKept.get(keyOf(party))!);
  }

  async function withOwners(
    snapshots: readonly SealedSnapshot[],
    owners: readonly string[],
  ): Promise<readonly Sealed[]> {
    dropWhereFull();
    const events = new Map<number, readonly ReadonlyMap<number, string>[]>();
    if (owners.length > 0)
      for (const [id, own] of Map.groupBy(snapshots, ({ migrationId }) => migrationId))
        events.set(id, await eventsOf(own, owners));
    return snapshots.map((snapshot) => {
      const texts = events.get(snapshot.migrationId)?.map((byTime) => byTime.get(snapshot.recordTime) ?? '');
      return { snapshot, ownersText: texts?.join('') ?? '' };
    });
  }

  return {
    async after({ place, until }, owners) {
      const rows = Math.min(SNAPSHOTS_AT_ONCE, Math.max(1, Math.floor(OWNER_EVENTS_AT_ONCE / owners.length)));
      return withOwners(await snapshotsAfter(place, until, rows), owners);
    },
    withOwners,
  };
}
