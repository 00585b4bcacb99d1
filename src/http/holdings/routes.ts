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
  /** Who asks, so that nobody has all of the reads to himself. */
  readonly clientAddress: (c: Context) => string;
  /** Throws a 503 where more answers wait to be taken than may, in all or by whom this request is from. */
  readonly requireRoom: (c: Context) => void;
  /** Null where forced snapshots are disabled. */
  readonly force: ForceSnapshot | null;
  readonly limits: ServedLimits;
  /** For how long ago something was: a clock that never jumps. */
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
