import { isIP } from 'node:net';
import { jsonResponse } from './json-response.ts';

type Fetch = (request: Request, env: unknown) => Response | Promise<Response>;

const HOST = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/;
/** A dot at the end makes no difference: it is the same name in full. */
const LOCALHOST = /^localhost\.?$/i;

/**
 * A loopback address is meant for programs of this machine. A web page could still reach us under a name of its own that
 * resolves to 127.0.0.1 (DNS rebinding); its requests have that name as Host and are refused.
 */
export function guardHost(fetch: Fetch, bindHost: string): Fetch {
  if (!isLoopback(bindHost)) return fetch;
  return (request, env) => {
    const host = request.headers.get('host');
    if (host !== null && !isLocalName(host)) return refused(host);
    // A target that is a whole URL names its own host, which takes precedence over the header.
    const target = targetHost(request.url);
    if (target !== host && !isLocalName(target)) return refused(target);
    return fetch(request, env);
  };
}

function refused(host: string): Response {
  return jsonResponse(403, {
    error: `Host: given ${JSON.stringify(host.slice(0, 100))}, expected localhost or an IP address`,
  });
}

function targetHost(url: string): string {
  const start = url.indexOf('://') + 3;
  return url.slice(start, url.indexOf('/', start));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function isLocalName(host: string): boolean {
  const m = HOST.exec(host);
  const name = m?.[1] ?? m?.[2] ?? '';
  return LOCALHOST.test(name) || isIP(name) !== 0;
}
