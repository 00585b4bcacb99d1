import { answersFrom } from '../../holdings/answer.ts';
import { serveThread } from '../../threads/serve-thread.ts';
import type { ReaderContract } from './reader-thread.ts';
import { openViewsStore } from './views-store.ts';

/** A reader thread, on a connection of its own. */
await serveThread<ReaderContract>(({ data: { dataDir, rules } }) => {
  const store = openViewsStore(dataDir);
  const answers = answersFrom(store, rules);
  return {
    json: (question) => answers.json(question),
    table: ({ question, form }) => answers.table(question, form),
    balances: (question) => answers.balances(question),
    numbered: (lookup) => store.facts(lookup),
    facts: (lookup) => store.facts(lookup),
    async ranking(place, move) {
      const ranking = await store.facts({ kind: 'ranking', ...place });
      move(Object.values(ranking).map(({ buffer }) => buffer as ArrayBuffer));
      return ranking;
    },
  };
});
