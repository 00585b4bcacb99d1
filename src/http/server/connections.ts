import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { createConnectionClient } from './client-address.ts';
import { HttpFault } from './http-fault.ts';
import { SERVER_LIMITS, type ServerLimits } from './limits.ts';

/** The connections of a server: limits their number, and the size of answers that clients have not read. */
export interface Connections {
  /** Keeps the server's connections within the limits from now on. */
  watch(server: Server): void;
  /** How many are open: with a request that is not answered to its end, or without. */
  count(): { readonly busy: number; readonly idle: number };
  /** Bytes of answers that clients have not read yet. */
  waitingBytes(): number;
  /** Throws a 503 where too many of them wait for a large answer to be added, in all or for this connection's client. */
  requireRoom(socket: Socket): void;
}

interface Connection {
  /** Null for a trusted proxy, which has no share: its requests are those of many clients. */
  readonly client: string | null;
  /** Requests not answered yet; without any the connection is idle. */
  requests: number;
}

/** How long a limit must not have been reached before reaching it is logged again. */
const NEWS_AFTER_MS = 60_000;
const WHAT_IS_DONE = 'those that are idle are closed for new ones; where none is idle, the new one is closed at once';

export function createConnections(options: {
  logger: Logger;
  limits?: ServerLimits;
  trustedProxies?: readonly string[];
}): Connections {
  const { logger, limits = SERVER_LIMITS, trustedProxies = [] } = options;
  const { connectionsMax, connectionsPerAddressMax, waitingBytesMax, waitingBytesPerAddressMax } = limits;
  const clientOf = createConnectionClient(trustedProxies);
  /** The least recently used first. */
  const connections = new Map<Socket, Connection>();
  const isNewThatAllAreTaken = createNews();
  const isNewThatShareIsTaken = createNews();

  /** Whether one more may be open, if needed in place of the one that was idle longest. */
  function makeRoom(client: string | null): boolean {
    const isOwn = (each: Connection): boolean => each.client === client;
    const hasShare = client === null || connections.values().filter(isOwn).toArray().length < connectionsPerAddressMax;
    if (!hasShare) {
      if (isNewThatShareIsTaken())
        logger.warn(
          { address: client, connectionsPerAddressMax },
          `one address has as many connections as one may have: ${WHAT_IS_DONE}; a proxy can be named in --trusted-proxies`,
        );
      return closeIdle(isOwn);
    }
    if (connections.size < connectionsMax) return true;
    if (isNewThatAllAreTaken())
      logger.warn({ connectionsMax }, `as many connections are open as are allowed: ${WHAT_IS_DONE}`);
    return closeIdle(() => true);
  }

  function closeIdle(mayGo: (connection: Connection) => boolean): boolean {
    for (const [socket, connection] of connections) {
      if (connection.requests > 0 || !mayGo(connection)) continue;
      connections.delete(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  function admit(socket: Socket): void {
    const client = clientOf(socket);
    if (!makeRoom(client)) {
      socket.destroy();
      return;
    }
    connections.set(socket, { client, requests: 0 });
    socket.once('close', () => connections.delete(socket));
  }

  /** Counts an answer until the client has read it, or the connection is gone. */
  function begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.requests += 1;
    response.once('close', () => {
      connection.requests -= 1;
      // Moves it to the end: it was used last.
      if (connections.delete(socket)) connections.set(socket, connection);
    });
  }

  function waitingBytes(isMeant: (connection: Connection) => boolean = () => true): number {
    let bytes = 0;
    for (const [socket, connection] of connections) if (isMeant(connection)) bytes += socket.writableLength;
    return bytes;
  }

  return {
    watch(server) {
      server.on('connection', admit);
      server.prependListener('request', begin);
    },
    count() {
      const busy = connections
        .values()
        .filter(({ requests }) => requests > 0)
        .toArray().length;
      return { busy, idle: connections.size - busy };
    },
    waitingBytes: () => waitingBytes(),
    requireRoom(socket) {
      const client = connections.get(socket)?.client ?? null;
      const own = client === null ? 0 : waitingBytes((each) => each.client === client);
      if (own >= waitingBytesPerAddressMax)
        throw new HttpFault(
          503,
          `${own} bytes of answers are not read by you yet, ` +
            `and at most ${waitingBytesPerAddressMax} may be; read them, then try again`,
        );
      const all = waitingBytes();
      if (all >= waitingBytesMax)
        throw new HttpFault(
          503,
          `${all} bytes of answers are not read by slow clients yet, and at most ${waitingBytesMax} may be; try again later`,
        );
    },
  };
}

/** Returns whether to log that a limit is reached, which in a flood happens many times. */
function createNews(): () => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = performance.now();
    const quietMs = nowMs - lastMs;
    lastMs = nowMs;
    return quietMs >= NEWS_AFTER_MS;
  };
}
