import { isIP } from 'node:net';
import { jsonResponse } from './json-response.ts';

type Fetch = (request: Request, env: unknown) => Response | Promise<Response>;

const HOST = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/;
/** With a dot at its end it is the same name, written out in full. */
const LOCALHOST = /^localhost\.?$/i;

/**
 * On a loopback address only programs of this machine are meant. A web page could reach us all the same, under a name
 * of its own that resolves to 127.0.0.1 (DNS rebinding); its requests carry that name as Host and are refused.
 */
export function guardHost(fetch: Fetch, bindHost: string): Fetch {
  if (!isLoopback(bindHost)) return fetch;
  return (request, env) => {
    const host = request.headers.get('host');
    if (host !== null && !isLocalName(host)) return refused(host);
    // A target that is a whole address names a host of its own, which counts more than the header.
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
