import { type Answers, answersFrom } from '../../holdings/answer.ts';
import type { HoldingsStore } from '../../holdings/facts.ts';
import { NOT_BOUNDED } from './facts.ts';
import { type ReaderThreadsOptions, startReaderThreads } from './reader-thread.ts';

/**
 * The answers of a server: those that their questions bound from the event loop's store, the others in reader threads, which work out the
 * text as well, so that nobody can stall the service with one question (docs/rules.md, fees).
 */
export function startAnswers(eventLoop: HoldingsStore, options: ReaderThreadsOptions): Answers & AsyncDisposable {
  const near = answersFrom(eventLoop, options.rules);
  const threads = startReaderThreads(options);
  return {
    async json(question, asker) {
      try {
        return await near.json(question);
      } catch (error) {
        if (error !== NOT_BOUNDED) throw error;
        return threads.json(question, asker());
      }
    },
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  };
}
