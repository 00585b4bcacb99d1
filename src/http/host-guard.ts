import { isIP } from 'node:net';
import { jsonResponse } from './json-response.ts';

type Fetch = (request: Request, env: unknown) => Response | Promise<Response>;

const HOST = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/;

/**
 * On a loopback address only programs of this machine are meant. A web page could reach us all the same, under a name
 * of its own that resolves to 127.0.0.1 (DNS rebinding); its requests carry that name as Host and are refused.
 */
export function guardHost(fetch: Fetch, bindHost: string): Fetch {
  if (!isLoopback(bindHost)) return fetch;
  return (request, env) => {
    const host = request.headers.get('host');
    if (host === null || isLocalName(host)) return fetch(request, env);
    return jsonResponse(403, {
      error: `Host: given ${JSON.stringify(host.slice(0, 100))}, expected localhost or an IP address`,
    });
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function isLocalName(host: string): boolean {
  const m = HOST.exec(host);
  const name = m?.[1] ?? m?.[2] ?? '';
  return name.toLowerCase() === 'localhost' || isIP(name) !== 0;
}
