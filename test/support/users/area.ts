import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { type HttpServer, startHttpServer } from '../../../src/http/http-server.ts';
import { createMetrics } from '../../../src/http/prometheus.ts';
import { createUsersArea } from '../../../src/http/users-area.ts';
import { openUsers, type Users } from '../../../src/users/open-users.ts';
import { parseUsersConfig } from '../../../src/users/users-config.ts';
import { SECRET } from './keys.ts';

export const PARTICIPANT_ID = 'participant1::1220aa';

export interface RunningArea extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  readonly users: Users;
  /** The log's lines so far. */
  readonly log: readonly string[];
}

/** The users' area on a real socket, over a real users.db in a directory of its own. */
export async function startArea(
  ledger: Readonly<Record<string, unknown>> = {},
  { nowMs = Date.now, dataDir = mkdtempSync(join(tmpdir(), 'holdfast-users-')) } = {},
): Promise<RunningArea> {
  const log: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      log.push(String(chunk));
      done();
    },
  });
  const logger = pino({ level: 'debug' }, sink);
  const authServices = [{ type: 'unsafe-jwt-hmac-256', secret: SECRET }];
  const config = parseUsersConfig({ value: { authServices, ...ledger }, folder: dataDir });
  const users = openUsers({ dataDir, config, participantId: PARTICIPANT_ID, logger });
  const area = createUsersArea({
    users,
    logger,
    metrics: createMetrics(),
    clientAddress: (c) => c.env.incoming.socket.remoteAddress ?? '',
    nowMs,
  });
  const server: HttpServer = await startHttpServer({
    fetch: (request, env) => area.fetch(request, env as never),
    host: '127.0.0.1',
    port: 0,
    logger,
  });
  return {
    url: server.url,
    dataDir,
    users,
    log,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      users[Symbol.dispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
