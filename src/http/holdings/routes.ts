import type { Context } from 'hono';
import type { Answers } from '../../holdings/answer.ts';
import type { Cors } from '../server/cors.ts';
import { jsonRoute, type ServedLimits } from '../server/operation.ts';
import type { Route } from '../server/routes.ts';
import { createForce, type ForceSnapshot } from './force.ts';
import { throwAsHttpFault } from './holdings-fault.ts';
import type { HoldingsCall } from './operation.ts';
import { HOLDINGS_OPERATIONS } from './operations.ts';

export interface HoldingsDeps {
  readonly answers: Answers;
  /** The client of a request, so that none takes all reader threads. */
  readonly clientAddress: (c: Context) => string;
  /** Throws a 503 where too many answers are not yet read by clients, in all or by this client. */
  readonly requireRoom: (c: Context) => void;
  /** Null where forced snapshots are disabled. */
  readonly force: ForceSnapshot | null;
  readonly limits: ServedLimits;
  /** A monotonic clock, for intervals. */
  readonly clockMs: () => number;
}

/** The routes of the holdings area. */
export function holdingsRoutes(deps: HoldingsDeps, cors: Cors): readonly Route[] {
  const { answers, clientAddress, requireRoom, limits } = deps;
  const force = createForce(deps);
  const callOf = (c: Context): HoldingsCall => ({
    ask: (question) =>
      answers.json(question, () => ({ client: clientAddress(c), signal: c.req.raw.signal })).catch(throwAsHttpFault),
    requireRoom: () => requireRoom(c),
    force,
  });
  return HOLDINGS_OPERATIONS.map((operation) => jsonRoute(operation, { callOf, limits, cors }));
}
