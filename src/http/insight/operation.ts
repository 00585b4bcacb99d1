import type { z } from 'zod';
import type { TableName } from '../../holdings/insight/question.ts';
import type { OperationFacts } from '../server/operation.ts';

/** An operation of this area answers with a table, which determines the parameters. */
export interface TableOperation extends OperationFacts {
  readonly table: TableName;
  /** The answer in JSON. The `id` in its meta is its name in the document. */
  readonly answer: z.ZodType;
  /** An example for the document, answered with 200 on the ledger that `npm run demo` serves (fixtures/story.scan.ndjson). */
  readonly example: Readonly<Record<string, string>>;
}
