import type { FactKind, Facts, HoldingsStore, Lookup, Ranking, SnapshotPlace } from '../../holdings/facts.ts';
import { LastComputed } from '../../holdings/reading/last-computed.ts';

/** The rankings of the last few snapshots requested. */
export interface Rankings {
  /** A store with cached rankings; `rank` computes one that is not cached, `join` is told of one that is being computed. */
  over(
    store: HoldingsStore,
    rank: (place: SnapshotPlace) => Promise<Ranking>,
    join?: (place: SnapshotPlace) => void,
  ): HoldingsStore;
}

export function createRankings(): Rankings {
  const rankings = new LastComputed<Ranking>(
    ({ total, unlocked, locked }) => total.byteLength + unlocked.byteLength + locked.byteLength,
  );
  return {
    over: (store, rank, join = () => {}) => ({
      facts<K extends FactKind>(lookup: Lookup<K>): Promise<Facts<K>> {
        if (lookup.kind !== 'ranking') return store.facts(lookup);
        const { migrationId, recordTime } = lookup as unknown as SnapshotPlace;
        const key = `${migrationId} ${recordTime}`;
        if (rankings.isBeingComputed(key)) join({ migrationId, recordTime });
        return rankings.of(key, () => rank({ migrationId, recordTime })) as Promise<Facts<K>>;
      },
    }),
  };
}
