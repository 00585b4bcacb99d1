import { type Answers, answersFrom } from '../../holdings/answer.ts';
import type { FactKind, Facts, HoldingsStore, Lookup, Ranking, RankingLookup } from '../../holdings/facts.ts';
import { LastComputed } from '../../holdings/last-computed.ts';
import { type ReaderThreadsOptions, type ReadLoad, startReaderThreads } from './reader-thread.ts';
import { NOT_BOUNDED } from './stored-snapshots.ts';

/**
 * A server's answers: questions with bounded reads are answered on the event loop, the others in reader threads, which also
 * create the text, so that no question can block the service (docs/rules.md, fees).
 */
export function startAnswers(
  eventLoop: HoldingsStore,
  options: ReaderThreadsOptions,
): Answers & AsyncDisposable & { readonly streamStore: HoldingsStore; load(): ReadLoad } {
  const near = answersFrom(eventLoop, options.rules);
  const threads = startReaderThreads(options);
  const rankings = createRankings();
  let lastOfStreams: Promise<unknown> = Promise.resolve();
  return {
    /** What streams read. Their backlogs are read by one thread, so that requests find the others. */
    streamStore: {
      facts: <K extends FactKind>(lookup: Lookup<K>) =>
        orElsewhere(eventLoop.facts(lookup), () => {
          const facts = lastOfStreams.then(() => threads.facts(lookup));
          lastOfStreams = facts.catch(() => {});
          return facts;
        }),
    },
    json: (question, signalOf) => orElsewhere(near.json(question), () => threads.json(question, signalOf())),
    async table(question, form, signalOf) {
      // Others may wait for the same ranking, so it is computed even where this client goes away.
      const ranked = rankings.over(eventLoop, (place) => threads.facts({ kind: 'ranking', ...place }));
      const searched = withFacts(ranked, 'owners containing', (lookup) => threads.facts(lookup, signalOf()));
      const store = withFacts(searched, 'numbered owners', (lookup) =>
        orElsewhere(searched.facts(lookup), () => threads.facts(lookup, signalOf())),
      );
      const { table } = answersFrom(store, options.rules);
      return orElsewhere(table(question, form), () => threads.table(question, form, signalOf()));
    },
    load: () => threads.load(),
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  };
}

/** A store whose facts of one kind are read otherwise. */
function withFacts<Kind extends FactKind>(
  store: HoldingsStore,
  kind: Kind,
  read: (lookup: Lookup<Kind>) => Promise<Facts<Kind>>,
): HoldingsStore {
  return {
    facts: <K extends FactKind>(lookup: Lookup<K>) =>
      (lookup.kind as FactKind) === kind
        ? (read(lookup as never) as Promise<unknown> as Promise<Facts<K>>)
        : store.facts(lookup),
  };
}

/** What is read on the event loop, or by a thread where that would read too much. */
async function orElsewhere<T>(near: Promise<T>, elsewhere: () => Promise<T>): Promise<T> {
  try {
    return await near;
  } catch (error) {
    if (error !== NOT_BOUNDED) throw error;
    return elsewhere();
  }
}

/** The rankings of the last few snapshots requested: makes a store with them of one whose rankings `rank` computes. */
export function createRankings() {
  const rankings = new LastComputed<Ranking>(
    ({ total, unlocked, locked }) => total.byteLength + unlocked.byteLength + locked.byteLength,
  );
  return {
    over: (store: HoldingsStore, rank: (place: RankingLookup) => Promise<Ranking>): HoldingsStore =>
      withFacts(store, 'ranking', ({ migrationId, recordTime, instrument }) => {
        const { admin, id } = instrument ?? {};
        const key = JSON.stringify([migrationId, recordTime, admin, id]);
        return rankings.of(key, () => rank({ migrationId, recordTime, instrument }));
      }),
  };
}
