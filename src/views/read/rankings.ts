import type { FactKind, Facts, HoldingsStore, Lookup } from '../../holdings/facts.ts';
import type { Ranking, SnapshotPlace } from '../../holdings/insight/facts.ts';

/** The last few that were requested are cached, if they fit; that of a million owners has 12 MB. */
const KEPT_MAX = 4;
const KEPT_BYTES_MAX = 64 * 2 ** 20;

type Rank = (place: SnapshotPlace) => Promise<Ranking>;

interface Kept {
  readonly ranking: Promise<Ranking>;
  /** Null while it is being computed. */
  bytes: number | null;
}

/** The rankings of the last few snapshots requested. One that is being computed is awaited, not computed a second time. */
export interface Rankings {
  /** A store with cached rankings; `rank` computes one that is not cached, `join` is told of one that is being computed. */
  over(store: HoldingsStore, rank: Rank, join?: (place: SnapshotPlace) => void): HoldingsStore;
}

export function createRankings(): Rankings {
  /** The least recently requested one comes first. */
  const kept = new Map<string, Kept>();

  function ranked(place: SnapshotPlace, rank: Rank, join: (place: SnapshotPlace) => void): Promise<Ranking> {
    const key = `${place.migrationId} ${place.recordTime}`;
    const before = kept.get(key);
    if (before?.bytes === null) join(place);
    const known = before ?? made(key, rank(place));
    kept.delete(key);
    kept.set(key, known);
    return known.ranking;
  }

  function made(key: string, ranking: Promise<Ranking>): Kept {
    const entry: Kept = { ranking, bytes: null };
    ranking.then(
      (orders) => {
        entry.bytes = bytesOf(orders);
        forget();
      },
      () => kept.delete(key),
    );
    return entry;
  }

  function forget(): void {
    const sized = [...kept].flatMap(([key, { bytes }]) => (bytes === null ? [] : [{ key, bytes }]));
    let bytes = sized.reduce((sum, each) => sum + each.bytes, 0);
    while (sized.length > KEPT_MAX || (bytes > KEPT_BYTES_MAX && sized.length > 1)) {
      const oldest = sized.shift()!;
      kept.delete(oldest.key);
      bytes -= oldest.bytes;
    }
  }

  return {
    over: (store, rank, join = () => {}) => ({
      facts<K extends FactKind>(lookup: Lookup<K>): Promise<Facts<K>> {
        if (lookup.kind !== 'ranking') return store.facts(lookup);
        const { migrationId, recordTime } = lookup as unknown as SnapshotPlace;
        return ranked({ migrationId, recordTime }, rank, join) as Promise<Facts<K>>;
      },
    }),
  };
}

function bytesOf({ total, unlocked, locked }: Ranking): number {
  return total.byteLength + unlocked.byteLength + locked.byteLength;
}
