import type { Context } from 'hono';
import { z } from 'zod';
import { BALANCE_OWNERS_MAX, BALANCE_TIMES_MAX, type BalancesQuestion } from '../holdings/balance-answers.ts';
import * as fields from './holdings-fields.ts';
import type { HoldingsDeps } from './holdings-operations.ts';
import { type ExampleValues, type OperationFacts, optional, validated } from './json-operation.ts';
import { readJsonBody } from './json-request.ts';
import { type Cors, type Route, throwAsHttpFault } from './routing.ts';
import { bodyHeaders, formOf, inParts, type TableDeps, textsOf } from './table-routes.ts';

/** The only operation of the tables' area that is no GET: it is about more than fits an address. */
export const BALANCES_OPERATION = {
  method: 'POST',
  path: '/holdfast/v1/balances',
  operationId: 'getBalances',
  summary: 'What owners have at any times: for each time in the order asked, each owner in the order asked.',
  needsDirectory: true,
  request: {
    fields: () =>
      z.strictObject({
        migration_id: optional(fields.givenInt64, {
          description: 'The newest migration that has an update unless given.',
        }),
        at: fields.listOf(fields.givenTime(), { max: BALANCE_TIMES_MAX, items: 'a time' }),
        owners: fields.listOf(fields.givenParty, { max: BALANCE_OWNERS_MAX, items: 'a party id' }),
      }),
    example: ({ migrationId, recordTime, owner }: ExampleValues) => ({
      migration_id: migrationId,
      at: [recordTime],
      owners: [owner],
    }),
  },
  answer: z
    .strictObject({
      migration_id: fields.int64('The migration of the updates.', 4),
      balances: z.array(
        z.strictObject({
          at: fields.time('The time asked for.'),
          party_id: fields.party,
          ...fields.totals,
        }),
      ),
    })
    .meta({ id: 'Balances' }),
} satisfies OperationFacts & Record<string, unknown>;

type BalancesDeps = TableDeps & Pick<HoldingsDeps, 'limits'>;

/** All times are judged before the first byte; the parts of the answer are read as the client takes them. */
export function balancesRoute({ answers, holdAnswer, limits, logger }: BalancesDeps, cors: Cors): Route {
  const { method, path, request } = BALANCES_OPERATION;
  const requestFields = request.fields();
  const handle = async (c: Context): Promise<Response> => {
    const texts = textsOf(['format'], new URL(c.req.url).searchParams);
    const form = formOf(texts.get('format'), c.req.header('accept'));
    const given = validated(requestFields, await readJsonBody(c, limits.bodyBytesMax));
    const { migration_id: migrationId, at, owners } = given;
    const ask = (question: BalancesQuestion) =>
      answers.balances(question, () => c.req.raw.signal).catch(throwAsHttpFault);
    const first = await ask({ form, migrationId, at, owners, after: null });
    holdAnswer(c, first.text);
    const shared = cors.headers(c);
    const headers = {
      ...shared,
      'Cache-Control': 'no-store',
      Vary: shared.Vary === undefined ? 'Accept' : `Accept, ${shared.Vary}`,
      'Access-Control-Expose-Headers': 'Content-Disposition',
      ...bodyHeaders({ fileName: 'holdfast-balances' }, form),
    };
    const following = ({ next }: typeof first) => (next === null ? null : ask(next));
    const body = first.next === null ? first.text : inParts(first, following, { answer: path, logger });
    return new Response(body, { headers });
  };
  return { method, path, cors, handle };
}
