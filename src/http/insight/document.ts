import { parameter } from '../../holdings/insight/parameters.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, TABLES } from '../../holdings/insight/question.ts';
import { contentOf, errorResponses } from '../server/openapi.ts';
import type { ExampleValues } from '../server/operation.ts';
import type { TableOperation } from './operations.ts';

const PAGING = [
  {
    name: 'limit',
    description: 'Rows in the answer; `all` sends those of all pages, in CSV only.',
    schema: { type: 'string', pattern: `^(?:[1-9]\\d{0,2}|${LIMIT_MAX}|all)$`, default: String(LIMIT_DEFAULT) },
  },
  {
    name: 'after',
    description: 'The next_page_token of the page before, which says all other parameters too.',
    schema: { type: 'string' },
  },
];

const FORMAT = {
  name: 'format',
  description: 'As the Accept header says unless given.',
  schema: { type: 'string', enum: ['json', 'csv'], default: 'json' },
};

const FAULTS = {
  400: 'A parameter is wrong, unknown or given twice; the message names it.',
  404: 'No such snapshot.',
  503: 'The read took longer than its time limit, or too many bytes of answers wait for slow clients.',
};

/** One operation in the document of the holdings area; these are at the root only. */
export function describeTableOperation({ table, answer }: TableOperation, { owner }: ExampleValues): object {
  const { parameters, paged } = TABLES[table];
  const named = parameters.map((name) => ({ name, ...parameter(name) }));
  return {
    servers: [{ url: '/' }],
    parameters: [...named, ...(paged ? PAGING : []), FORMAT].map(({ name, description, schema }) => ({
      name,
      in: name === 'party' ? 'path' : 'query',
      required: name === 'party',
      description,
      schema,
      ...(name === 'party' ? { example: owner } : {}),
    })),
    responses: {
      200: {
        description: 'The rows; in CSV with their names in the first line and no envelope.',
        content: { ...contentOf(answer), 'text/csv': { schema: { type: 'string' } } },
      },
      304: { description: 'The client has this answer already (If-None-Match).' },
      ...errorResponses(FAULTS),
    },
  };
}
