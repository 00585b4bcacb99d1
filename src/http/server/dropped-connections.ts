import type { Server } from 'node:http';
import type { Logger } from 'pino';

/** How long connections must have been accepted again before the next ones that are not are news. */
const NEWS_AFTER_MS = 60_000;

/** Says once in the log when connections above the limit begin to be closed; a flood of them is one message. */
export function logDroppedConnections(server: Server, logger: Logger): void {
  let lastDropMs = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    const nowMs = performance.now();
    const quietMs = nowMs - lastDropMs;
    lastDropMs = nowMs;
    if (quietMs < NEWS_AFTER_MS) return;
    const { maxConnections: connectionsMax } = server;
    logger.warn({ connectionsMax }, 'as many connections are open as are allowed; new ones are closed at once');
  });
}
