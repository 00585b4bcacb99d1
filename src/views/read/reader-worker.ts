import { answersFrom } from '../../holdings/answer.ts';
import { serveThread } from '../../threads/serve-thread.ts';
import type { ReaderContract } from './reader-thread.ts';
import { openViewsStore } from './store.ts';

/** A reader thread, on a connection of its own. */
await serveThread<ReaderContract>(({ data: { dataDir, rules } }) => {
  const answers = answersFrom(openViewsStore(dataDir), rules);
  return { json: (question) => answers.json(question) };
});
