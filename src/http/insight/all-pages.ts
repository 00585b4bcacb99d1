import type { Logger } from 'pino';
import { nextQuestion } from '../../holdings/insight/page-token.ts';
import type { TableQuestion } from '../../holdings/insight/question.ts';
import type { TableForm, TableText } from '../../holdings/insight/table.ts';

/**
 * The CSV of a first page and of all pages behind it, each of which is read when the client has taken the one before: nothing is held
 * for a slow one but a page.
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
      // The head was sent long ago: that the rows break off is all that the client can be told.
      logger.warn({ err: error, table: question.table }, 'an answer of all pages was broken off');
      throw error;
    }
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}
