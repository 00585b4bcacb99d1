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
  async function* pages(): AsyncGenerator<Uint8Array> {
    let page = first;
    yield encoder.encode(page.text);
    while (page.next !== null) {
      page = await ask(nextQuestion(question, page.next), 'csv rows').catch(broken);
      yield encoder.encode(page.text);
    }
  }
  /** The head was already sent: an aborted body is all that can still show the failure. */
  function broken(error: unknown): never {
    logger.warn({ err: error, table: question.table }, 'an answer of all pages was broken off');
    throw error;
  }
  return ReadableStream.from(pages());
}
