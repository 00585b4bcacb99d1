import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { TableQuestion } from '../../holdings/insight/question.ts';
import type { TableForm, TableText } from '../../holdings/insight/table.ts';
import { throwAsHttpFault } from '../holdings/holdings-fault.ts';
import type { HoldingsDeps } from '../holdings/routes.ts';
import type { Cors } from '../server/cors.ts';
import type { Route } from '../server/routes.ts';
import { allPages } from './all-pages.ts';
import { bodyHeaders, isKnown, tableHeaders } from './headers.ts';
import { TABLE_OPERATIONS, type TableOperation } from './operations.ts';
import { readTableRequest } from './read-request.ts';
import { streamRoute } from './stream/route.ts';
import type { Streams } from './stream/streams.ts';

export interface InsightDeps extends Pick<HoldingsDeps, 'answers' | 'clientAddress' | 'requireRoom'> {
  readonly streams: Streams;
  readonly logger: Logger;
}

/** The routes of the area, at the root only. */
export function insightRoutes(deps: InsightDeps, cors: Cors): readonly Route[] {
  return [...TABLE_OPERATIONS.map((operation) => tableRoute(operation, deps, cors)), streamRoute(deps, cors)];
}

function tableRoute({ method, path, table }: TableOperation, deps: InsightDeps, cors: Cors): Route {
  const { answers, clientAddress, requireRoom, logger } = deps;
  const handle = async (c: Context): Promise<Response> => {
    const url = new URL(c.req.url);
    const request = { party: c.req.param('party'), query: url.searchParams, accept: c.req.header('accept') };
    const { question, form, all } = readTableRequest(table, request);
    const ask = (question: TableQuestion, as: TableForm): Promise<TableText> =>
      answers
        .table(question, as, () => ({ client: clientAddress(c), signal: c.req.raw.signal }))
        .catch(throwAsHttpFault);
    requireRoom(c);
    const answer = await ask(question, form);
    requireRoom(c);
    const shared = cors.headers(c);
    const headers = { ...shared, ...tableHeaders(answer, { url, all, vary: shared.Vary }) };
    if (isKnown(headers.ETag, c.req.header('if-none-match'))) return new Response(null, { status: 304, headers });
    const body = all ? allPages({ question, first: answer, ask, logger }) : answer.text;
    return new Response(body, { headers: { ...headers, ...bodyHeaders(answer, form) } });
  };
  return { method, path, cors, handle };
}
