import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/**
 * Returns the function that says whom a request comes from: the peer, or, behind trusted proxies, the last address in X-Forwarded-For
 * that none of them wrote about itself. What others write there is not believed.
 */
export function createClientAddress(
  trustedProxies: readonly string[],
): (c: Context<{ Bindings: HttpBindings }>) => string {
  const trusted = new Set(trustedProxies.map(plainAddress));
  return (c) => {
    const peer = plainAddress(c.env.incoming.socket.remoteAddress ?? '');
    if (!trusted.has(peer)) return peer;
    const forwarded = (c.req.header('x-forwarded-for') ?? '').split(',').map((part) => plainAddress(part.trim()));
    return forwarded.findLast((address) => address !== '' && !trusted.has(address)) ?? peer;
  };
}

/** An IPv4 address that came over an IPv6 socket is the same client. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}
