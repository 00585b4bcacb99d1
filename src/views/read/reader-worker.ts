import { parentPort, workerData } from 'node:worker_threads';
import { answersFrom } from '../../holdings/answer.ts';
import { HoldingsFault } from '../../holdings/fault.ts';
import type { Question } from '../../holdings/question.ts';
import type { ReaderReply, ReaderWorkerData } from './reader-thread.ts';
import { openViewsStore } from './store.ts';

/** A reader thread: one question at a time, on a connection of its own. */
const port = parentPort!;
const { dataDir, rules } = workerData as ReaderWorkerData;
const answers = answersFrom(openViewsStore(dataDir), rules);

port.on('message', async (question: Question) => port.postMessage(await reply(question)));

async function reply(question: Question): Promise<ReaderReply> {
  try {
    return { type: 'text', text: await answers.json(question) };
  } catch (error) {
    if (error instanceof HoldingsFault) return { type: 'fault', code: error.code, message: error.message };
    return { type: 'failure', stack: error instanceof Error ? String(error.stack) : String(error) };
  }
}
