import type { Logger } from 'pino';
import { jsonResponse } from './json-response.ts';
import { type HttpServer, startHttpServer } from './server.ts';

/** Answers at the service's address as long as its data directory cannot be opened. */
export interface UnavailableServer extends AsyncDisposable {
  /** Listens from the first call on, and answers with the reason. */
  readonly tell: (reason: string) => Promise<void>;
  /** Frees the address. */
  readonly end: () => Promise<void>;
}

/** As on a full disk: the process is alive, and answers say why nothing is served. */
export function createUnavailableServer(address: {
  host: string;
  port: number;
  reusePort: boolean;
  logger: Logger;
}): UnavailableServer {
  let server: HttpServer | null = null;
  let why = '';
  const end = async (): Promise<void> => {
    await server?.[Symbol.asyncDispose]();
    server = null;
  };
  return {
    async tell(reason) {
      why = `the data directory cannot be opened (${reason}); it is tried again`;
      if (server !== null) return;
      server = await startHttpServer({ ...address, fetch: (request) => answer(request, why) });
      address.logger.warn({ url: server.url }, 'answering that the service is unavailable');
    },
    end,
    [Symbol.asyncDispose]: end,
  };
}

function answer({ url }: Request, why: string): Response {
  switch (new URL(url).pathname.replace(/^\/api\/scan(?=\/)/, '')) {
    case '/livez':
      return jsonResponse(200, {});
    case '/readyz':
      return jsonResponse(503, { ready: false, reasons: [why], degraded: [] });
    default:
      return jsonResponse(503, { error: why });
  }
}
