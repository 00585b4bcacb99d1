import { parentPort, workerData } from 'node:worker_threads';
import { openViewsReader } from '../../views/read/reader.ts';
import { HttpFault } from '../server/http-fault.ts';
import { answerQuestion, type Question } from './answers.ts';
import type { ReaderReply, ReaderWorkerData } from './reader-thread.ts';

/** A reader thread: one question at a time, on a connection of its own. */
const port = parentPort!;
const { dataDir, rules } = workerData as ReaderWorkerData;
const database = openViewsReader(dataDir);

port.on('message', (question: Question) => port.postMessage(reply(question)));

function reply(question: Question): ReaderReply {
  try {
    return { type: 'text', text: answerQuestion(database, question, rules) };
  } catch (error) {
    if (error instanceof HttpFault) return { type: 'fault', status: error.status, message: error.message };
    return { type: 'failure', stack: error instanceof Error ? String(error.stack) : String(error) };
  }
}
