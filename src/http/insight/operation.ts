import type { z } from 'zod';
import type { TableName } from '../../holdings/insight/question.ts';
import type { OperationFacts } from '../server/operation.ts';

/** An operation of this area is a table that is asked for; with what it may be asked, the table itself says. */
export interface TableOperation extends OperationFacts {
  readonly table: TableName;
  /** The answer in JSON. The `id` in its meta is its name in the document. */
  readonly answer: z.ZodType;
  /** As the document shows it. It is answered with 200 on the ledger that `npm run demo` serves (fixtures/story.scan.ndjson). */
  readonly example: Readonly<Record<string, string>>;
}
