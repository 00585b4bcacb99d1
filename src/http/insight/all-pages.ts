import type { Logger } from 'pino';
import { nextQuestion } from '../../holdings/insight/page-token.ts';
import type { TableQuestion } from '../../holdings/insight/question.ts';
import type { TableForm, TableText } from '../../holdings/insight/table.ts';

/**
 * The CSV of a first page and of all later ones, each of which is read when the client has received the one before: only one
 * page is in memory for a slow client.
 */
export function allPages({
  question,
  first,
  ask,
  logger,
}: {
  readonly question: TableQuestion;
  readonly first: TableText;
  readonly ask: (question: TableQuestion, form: TableForm) => Promise<TableText>;
  readonly logger: Logger;
}): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let { text, next }: Pick<TableText, 'text' | 'next'> = first;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    if (text === '') ({ text, next } = await readPage(next!));
    controller.enqueue(encoder.encode(text));
    text = '';
    if (next === null) controller.close();
  };
  const readPage = async (token: string): Promise<TableText> => {
    try {
      return await ask(nextQuestion(question, token), 'csv rows');
    } catch (error) {
      // The head was already sent: an aborted body is all that can still show the failure.
      logger.warn({ err: error, table: question.table }, 'an answer of all pages was broken off');
      throw error;
    }
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}
