import { answersFrom } from '../../holdings/answer.ts';
import type { Ranking } from '../../holdings/facts.ts';
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
    async facts(lookup, move) {
      const facts = await store.facts(lookup);
      if (lookup.kind === 'ranking') move(Object.values(facts as Ranking).map(({ buffer }) => buffer as ArrayBuffer));
      return facts;
    },
  };
});
