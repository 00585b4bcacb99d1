import { OWNERS_MAX_DEFAULT } from '../holdings/question.ts';
import { HOLDINGS_OPERATIONS } from './holdings/operations.ts';
import { describeTableOperation } from './insight/document.ts';
import { TABLE_OPERATIONS } from './insight/operations.ts';
import { describeStream, STREAM_EVENTS, STREAM_OPERATION } from './insight/stream/operation.ts';
import { answerSchemas, describeJsonOperation, openApiDocument } from './server/openapi.ts';
import { SERVICE_OPERATIONS } from './service/operations.ts';
import { createUsersDocument } from './users/document.ts';

interface AreaDocument {
  /** Its name on the page /docs. */
  readonly name: string;
  readonly create: (version: string) => object;
}

/** The OpenAPI documents, by their names in `holdfast openapi` and /openapi/. */
export const DOCUMENTS: Readonly<Record<string, AreaDocument>> = {
  holdings: { name: 'Holdings', create: createHoldingsDocument },
  ledger: { name: 'Ledger', create: createUsersDocument },
};

const DESCRIPTION = `Coin totals per owner at every snapshot of a ledger. Wire-compatible with the holdings operations of Splice Scan;
served at the root and under /api/scan, and those of a validator's scan-proxy under its paths too. What lies under /holdfast/v1 is our own: balances over time, the largest holders and the
supply, as JSON or CSV; its paths are at the root only. Amounts are strings with exactly ten decimals. Integers of 64 bits are JSON numbers
and keep all their digits: read them with a parser that does too. At most ${OWNERS_MAX_DEFAULT} owners in one request unless the
service is configured otherwise.`;

/** The document of holdings, tables, stream and the service itself, with the default limits. */
function createHoldingsDocument(version: string): object {
  const answering = [...HOLDINGS_OPERATIONS, ...TABLE_OPERATIONS, ...SERVICE_OPERATIONS];
  const operations = [...HOLDINGS_OPERATIONS, ...TABLE_OPERATIONS, STREAM_OPERATION, ...SERVICE_OPERATIONS];
  const events = Object.values(STREAM_EVENTS).map((answer) => ({ answer }));
  const facts = {
    title: 'Holdfast: holdings',
    version,
    description: DESCRIPTION.replaceAll('\n', ' '),
    servers: ['/', '/api/scan'],
    components: { schemas: answerSchemas([...answering, ...events]) },
  };
  const limits = { ownersMax: OWNERS_MAX_DEFAULT };
  return openApiDocument(facts, operations, (operation) => {
    if ('table' in operation) return describeTableOperation(operation);
    return 'answer' in operation ? describeJsonOperation(operation, limits) : describeStream();
  });
}
