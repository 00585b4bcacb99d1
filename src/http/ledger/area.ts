import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import type { Users } from '../../users/open-users.ts';

export interface LedgerAreaDeps {
  readonly users: Users;
  readonly logger: Logger;
  /** Whom failed authentications are counted against; behind trusted proxies the client they name. */
  readonly clientAddress: (context: Context<{ Bindings: HttpBindings }>) => string;
  readonly nowMs?: () => number;
}

/** Everything under /v2, 404 and 405 in the ledger's own form included, to be mounted at the root of the server. */
export function createLedgerArea(_deps: LedgerAreaDeps): Hono<{ Bindings: HttpBindings }> {
  return new Hono<{ Bindings: HttpBindings }>();
}
