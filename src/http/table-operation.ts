import { z } from 'zod';
import type { TableQuestion } from '../holdings/table-question.ts';
import { int64, time, totals } from './holdings-fields.ts';
import type { ExampleValues, OperationFacts } from './json-operation.ts';

/** An operation that answers with a table. The area's other one is the stream. */
export interface TableOperation extends OperationFacts {
  /** It determines the parameters of a GET. */
  readonly table: TableQuestion['table'];
  /** What a POST has in its body. */
  readonly request?: {
    readonly fields: z.ZodObject;
    readonly example: (values: ExampleValues) => Readonly<Record<string, unknown>>;
  };
  /** The answer in JSON. The `id` in its meta is its name in the document. */
  readonly answer: z.ZodObject;
}

/** `schema`: the name of the answer in the document. */
export function tableOperation<Shape extends z.ZodRawShape>({
  schema,
  answer,
  ...facts
}: Omit<TableOperation, 'method' | 'answer'> & { readonly schema: string; readonly answer: Shape }) {
  const method = facts.request === undefined ? 'GET' : 'POST';
  return { method, ...facts, answer: z.strictObject(answer).meta({ id: schema }) } as const;
}

export const listOfRows = <Shape extends z.ZodRawShape>(fields: Shape) => z.array(z.strictObject(fields));

export const migration = { migration_id: int64('The migration of the snapshots.', 4) };

export const ofUpdates = { migration_id: int64('The migration of the updates.', 4) };

export const count = (description: string) => z.int().nonnegative().meta({ description });

export const token = {
  next_page_token: z.string().nullable().meta({
    description:
      'Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end.',
  }),
};

export const contracts = { contracts: count('Coins.') };

export const digest = (what: string) =>
  z
    .union([z.string().regex(/^[0-9a-f]{64}$/), z.null()])
    .meta({ description: `${what}, as a SHA-256: equal where two replicas hold the same. Null where it was forced.` });

export const at = { record_time: time('The time of the snapshot.'), ...totals, ...contracts };

export const movementsSince = time('Movements are kept from that counted time on.').nullable().meta({
  description: 'Null where they are kept from the beginning.',
});

export function columnsOf({ answer }: TableOperation): readonly string[] {
  const rows = Object.values(answer.shape).find((field) => field instanceof z.ZodArray);
  return Object.keys(rows === undefined ? answer.shape : (rows.element as z.ZodObject).shape);
}
